"""The engine's process: `python -m shared.vectors.edge_child FOLDER SOCKET OPTIONS`, started by `edge_process`.

Holds the in-process store and answers its caller's calls side by side, in the order in which they are done. Ends with
its caller, at once: the write-ahead log has what was answered. Signals of a terminal are the caller's business.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import structlog

from shared.errors import CitebusError
from shared.process import end_with_parent, new_event_loop
from shared.vectors.edge import EdgeOptions, QdrantEdgeStore
from shared.vectors.edge_wire import (
    Answer,
    Call,
    Frames,
    packed_hits,
    packed_ids,
    unpacked_ids,
    unpacked_points,
    unpacked_vectors,
)
from shared.vectors.store import PointQuery

_log = structlog.get_logger(__name__)


class _Calls:
    """The store's methods, with arguments and results as they travel."""

    def __init__(self, store: QdrantEdgeStore) -> None:
        self._store = store
        self._methods: dict[str, Callable[..., Awaitable[Any]]] = {
            "ensure_space": store.ensure_space,
            "upsert": self._upsert,
            "rewrite": self._rewrite,
            "set_dense": self._set_dense,
            "delete": self._delete,
            "search": self._search,
            "page_of_ids": self._page_of_ids,
            "count": store.count,
            "drop_space": store.drop_space,
            "settled": store.settled,
            "aclose": store.aclose,
        }

    async def answer(self, call: Call) -> Answer:
        """Return what the call comes to; never raises."""
        try:
            return Answer(call.number, await self._methods[call.method](*call.arguments))
        except CitebusError as error:
            return Answer(call.number, error=(type(error).__name__, str(error)))
        except Exception as error:  # noqa: BLE001  (the policy: a caller gets an answer whatever happens)
            _log.exception("vectors.call_failed", method=call.method, exc_info=error)
            return Answer(call.number, error=(CitebusError.__name__, "An unexpected error; the log says more."))

    async def _upsert(self, space: str, points: Any) -> None:
        await self._store.upsert(space, unpacked_points(points))

    async def _rewrite(self, space: str, points: Any) -> None:
        await self._store.rewrite(space, unpacked_points(points))

    async def _set_dense(self, space: str, vectors: Any) -> None:
        await self._store.set_dense(space, unpacked_vectors(vectors))

    async def _delete(self, space: str, ids: bytes) -> None:
        await self._store.delete(space, unpacked_ids(ids))

    async def _search(self, space: str, queries: list[PointQuery]) -> list[tuple[bytes, bytes]]:
        return [packed_hits(hits) for hits in await self._store.search(space, queries)]

    async def _page_of_ids(self, *arguments: Any) -> tuple[bytes, Any]:
        ids, start = await self._store.page_of_ids(*arguments)
        return packed_ids(ids), start


async def _serve(folder: Path, end: socket.socket, options: EdgeOptions) -> None:
    frames = Frames(*await asyncio.open_connection(sock=end))
    try:
        store = await QdrantEdgeStore.open(folder, options)
    except CitebusError as error:
        await frames.send(Answer(0, error=(type(error).__name__, str(error))))
        return
    await frames.send(Answer(0))
    calls, running = _Calls(store), set[asyncio.Task[None]]()

    async def answered(call: Call) -> None:
        await frames.send(await calls.answer(call))

    while (call := await frames.receive()) is not None:
        task = asyncio.create_task(answered(call))
        running.add(task)
        task.add_done_callback(running.discard)
    os._exit(0)  # the caller is gone; a flush could take long, and another process may wait for the folder


def main(folder: str, number: str, options: str) -> None:
    """Serve until the caller is gone. The space's types are imported before, so that frames can be read."""
    end_with_parent()
    for ignored in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    end = socket.socket(fileno=int(number))
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_serve(Path(folder), end, EdgeOptions(**json.loads(options))))


if __name__ == "__main__":
    main(*sys.argv[1:])
