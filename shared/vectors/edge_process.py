"""The vector store on one machine: Qdrant Edge in a process of its own, reached over a private pair of sockets.

Every call of the engine holds its process's interpreter lock. Beside services in one process it would stop them, for
milliseconds with each batch and for seconds when a shard is opened or closed; so it lives apart, and a search waits
for nothing but the engine. A crash of the engine (a full disk kills whoever has its files mapped) ends that process
alone: calls under way raise Unavailable, the next call starts it again, and its log brings back what was answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from shared import errors
from shared.embedding.embedder import Space, Vector
from shared.errors import CitebusError, Unavailable
from shared.vectors.edge import EdgeOptions
from shared.vectors.edge_wire import (
    MAX_POINTS,
    Answer,
    Call,
    Frames,
    packed_ids,
    packed_points,
    packed_vectors,
    unpacked_hits,
    unpacked_ids,
)
from shared.vectors.store import Point, PointQuery, ScoredPoint

_PAGE = 1_000
"""Ids per call."""

_CLOSE_S = 60.0
"""Time to flush and close, minutes of writes at most; then the process is killed, and its log has the rest."""

T = TypeVar("T")


class EdgeProcessStore:
    """`open` it, `aclose` it; in between it is a VectorStore. Belongs to one event loop."""

    def __init__(self, root: Path, options: EdgeOptions) -> None:
        self._root = root
        self._options = options
        self._engine: _Engine | None = None
        self._starting = asyncio.Lock()
        self._closed = False

    @classmethod
    async def open(cls, root: Path, options: EdgeOptions | None = None) -> EdgeProcessStore:
        """Take the folder. Raises Unavailable when another process has it open or it can't be written."""
        store = cls(root, options or EdgeOptions())
        await store._running()
        return store

    async def ensure_space(self, space: Space) -> None:
        """As VectorStore.ensure_space; raises InvalidInput when the folder is damaged."""
        await self._call("ensure_space", space)

    async def upsert(self, space: str, points: Sequence[Point]) -> None:
        """As VectorStore.upsert."""
        for batch in _batches(points):
            await self._call("upsert", space, packed_points(batch))

    async def rewrite(self, space: str, points: Sequence[Point]) -> None:
        """As VectorStore.rewrite."""
        for batch in _batches(points):
            await self._call("rewrite", space, packed_points(batch))

    async def set_dense(self, space: str, vectors: Mapping[UUID, Vector]) -> None:
        """As VectorStore.set_dense."""
        for batch in _batches(list(vectors.items())):
            await self._call("set_dense", space, packed_vectors(batch))

    async def delete(self, space: str, ids: Sequence[UUID]) -> None:
        """As VectorStore.delete; works on a full disk too, as it is what frees it."""
        await self._call("delete", space, packed_ids(ids))

    async def search(self, space: str, queries: Sequence[PointQuery]) -> list[list[ScoredPoint]]:
        """As VectorStore.search."""
        return [unpacked_hits(hits) for hits in await self._call("search", space, list(queries))]

    async def ids(self, space: str, vault_id: str | None = None) -> AsyncIterator[UUID]:
        """As VectorStore.ids."""
        start: UUID | None = None
        while True:
            ids, start = await self._call("page_of_ids", space, vault_id, start, _PAGE)
            for id in unpacked_ids(ids):
                yield id
            if start is None:
                return

    async def count(self, space: str, vault_id: str | None = None) -> int:
        """As VectorStore.count."""
        return await self._call("count", space, vault_id)

    async def drop_space(self, space: str) -> None:
        """As VectorStore.drop_space."""
        await self._call("drop_space", space)

    async def settled(self) -> None:
        """Return when no compaction is under way in any space."""
        await self._call("settled")

    async def aclose(self) -> None:
        """Flush and release everything; the folder is free for another process. Safe to call twice."""
        self._closed = True
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.aclose()

    async def _call(self, method: str, *arguments: Any) -> Any:
        return await (await self._running()).call(method, *arguments)

    async def _running(self) -> _Engine:
        async with self._starting:
            if self._closed:
                raise Unavailable("The vector store is closed.")
            if self._engine is None or self._engine.ended:
                self._engine = await _Engine.start(self._root, self._options)
            return self._engine


class _Engine:
    """One run of the engine's process."""

    def __init__(self, process: asyncio.subprocess.Process, frames: Frames) -> None:
        self._process = process
        self._frames = frames
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._listener: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, root: Path, options: EdgeOptions) -> _Engine:
        """Return once the process has taken the folder. Raises Unavailable."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                process = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", "shared.vectors.edge_child",
                    str(root), str(theirs.fileno()), json.dumps(asdict(options)),
                    pass_fds=(theirs.fileno(),), stdin=asyncio.subprocess.DEVNULL,
                )  # fmt: skip
            except OSError as error:
                ours.close()
                raise Unavailable(f"The process of the vector store can't be started: {error.strerror}.") from error
        engine = cls(process, Frames(*await asyncio.open_connection(sock=ours)))
        try:
            _result(await engine._frames.receive() or await engine._died())
        except BaseException:
            await engine._kill()
            raise
        engine._listener = asyncio.create_task(engine._listen(), name="answers of the vector store")
        return engine

    @property
    def ended(self) -> bool:
        """The process is gone, or going."""
        return self._listener is not None and self._listener.done()

    async def call(self, method: str, *arguments: Any) -> Any:
        """Return what a method comes to; raises what it raises, and Unavailable when the process ends meanwhile."""
        if self.ended:
            raise Unavailable("The process of the vector store has just ended; try again.")
        number = next(self._numbers)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            with contextlib.suppress(ConnectionError):  # the listener tells it, with the reason
                await self._frames.send(Call(number, method, arguments))
            return _result(await answer)
        finally:
            self._waiting.pop(number, None)

    async def aclose(self) -> None:
        """Flush and end the process; one that takes too long is killed."""
        try:
            async with asyncio.timeout(_CLOSE_S):
                with contextlib.suppress(Unavailable):
                    await self.call("aclose")
        finally:
            await self._kill()

    async def _listen(self) -> None:
        while (answer := await self._frames.receive()) is not None:
            waiting = self._waiting.get(answer.number)
            if waiting is not None and not waiting.done():
                waiting.set_result(answer)
        died = await self._died()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(died)

    async def _died(self) -> Answer:
        self._frames.close()
        code = await self._process.wait()
        said = f"The process of the vector store ended (exit {code}); it is started again by the next call."
        return Answer(0, error=(Unavailable.__name__, said))

    async def _kill(self) -> None:
        if self._listener is not None:
            self._listener.cancel()
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._frames.close()
        await self._process.wait()


def _result(answer: Answer) -> Any:
    if answer.error is None:
        return answer.result
    kind, text = answer.error
    raised = getattr(errors, kind, CitebusError)
    raise raised(text)


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield the items in batches; none give one empty batch, as an unknown space is an error all the same."""
    for start in range(0, max(1, len(items)), MAX_POINTS):
        yield items[start : start + MAX_POINTS]
