"""The vector store in process: Qdrant Edge, one shard per space under one folder, for one machine.

Belongs to one process (a lock file says which; see `edge_process`) and to one event loop. The engine blocks the loop
for the length of a call, a few milliseconds; the reasons are in `edge_shard`. A search never waits longer than one
batch for a write that is under way. A wiped folder is an empty store. Postgres is the authority: after a power failure
the last half minute of vectors may be missing, and is to be filled in from there.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from uuid import UUID

import structlog

from shared.embedding.embedder import Space, Vector
from shared.errors import CitebusError, NotFound, SpaceMismatch, Unavailable
from shared.vectors.edge_folder import Current, SpaceFolder, lock_folder
from shared.vectors.edge_shard import EdgeShard
from shared.vectors.edge_space import EdgeSpace
from shared.vectors.filter import EVERYTHING, FieldIn, PointFilter
from shared.vectors.store import Point, PointQuery, ScoredPoint

_PAGE = 1_000
"""Ids per call of the engine."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class EdgeOptions:
    """How the in-process store behaves."""

    compact_above: int = 12_000
    """Compact when so many dense vectors are outside the graph; comparing with them costs about 1 ms a query."""
    flush_every_s: float = 10.0
    """How long a space must be quiet before it is flushed: that stops the process for a tenth of a second or more."""
    min_free_bytes: int = 256 * 1024 * 1024
    """Below it writes are refused: the engine maps its files, and a full disk would kill the process."""


class QdrantEdgeStore:
    """`open` it, `aclose` it; in between it is a VectorStore."""

    def __init__(self, root: Path, lock: IO[str], options: EdgeOptions) -> None:
        self._root = root
        self._lock = lock
        self._options = options
        self._spaces: dict[str, EdgeSpace] = {}
        self._flusher = asyncio.create_task(self._flush_regularly(), name="flush vectors")

    @classmethod
    async def open(cls, root: Path, options: EdgeOptions | None = None) -> QdrantEdgeStore:
        """Take the folder. Raises Unavailable when another process has it open or it can't be written."""
        return cls(root, lock_folder(root), options or EdgeOptions())

    async def ensure_space(self, space: Space) -> None:
        """Create the shard where missing. Raises SpaceMismatch for another dimension, InvalidInput when damaged."""
        folder = SpaceFolder(self._root, space.name)
        if folder.current() is None:
            self._check_disk()
            folder.remove_leftovers(None)
            shard = EdgeShard.create(folder.generation(), space.dimension)
            current = Current(shard.path.name, space.dimension)
            folder.switch(current)
            self._spaces[space.name] = EdgeSpace(folder, shard, current, self._options.compact_above)
        dimension = self._space(space.name).dimension
        if dimension != space.dimension:
            raise SpaceMismatch(
                f"The space {space.name} holds vectors of {dimension} numbers, the settings say {space.dimension}. "
                "Restore the model's settings, or name the new model differently."
            )

    async def upsert(self, space: str, points: Sequence[Point]) -> None:
        """As VectorStore.upsert."""
        await self._writable(space).upsert(points)

    async def rewrite(self, space: str, points: Sequence[Point]) -> None:
        """As VectorStore.rewrite."""
        await self._writable(space).rewrite(points)

    async def set_dense(self, space: str, vectors: Mapping[UUID, Vector]) -> None:
        """As VectorStore.set_dense."""
        await self._writable(space).set_dense(vectors)

    async def delete(self, space: str, ids: Sequence[UUID]) -> None:
        """As VectorStore.delete; works on a full disk too, as it is what frees it."""
        await self._space(space).delete(ids)

    async def search(self, space: str, queries: Sequence[PointQuery]) -> list[list[ScoredPoint]]:
        """As VectorStore.search."""
        return self._space(space).search(queries)

    async def ids(self, space: str, vault_id: str | None = None) -> AsyncIterator[UUID]:
        """As VectorStore.ids; a page at a time, so other tasks run in between."""
        start: UUID | None = None
        while True:
            page, start = await self.page_of_ids(space, vault_id, start, _PAGE)
            for id in page:
                yield id
            if start is None:
                return
            await asyncio.sleep(0)

    async def page_of_ids(
        self, space: str, vault_id: str | None, start: UUID | None, limit: int
    ) -> tuple[list[UUID], UUID | None]:
        """Return at most `limit` ids, ascending from `start` on, and where the next page starts (None: nowhere)."""
        return self._space(space).ids(_of_vault(vault_id), start, limit)

    async def count(self, space: str, vault_id: str | None = None) -> int:
        """As VectorStore.count."""
        return self._space(space).count(_of_vault(vault_id))

    async def drop_space(self, space: str) -> None:
        """As VectorStore.drop_space."""
        opened = self._spaces.pop(space, None)
        if opened is not None:
            await opened.aclose()
        await asyncio.to_thread(SpaceFolder(self._root, space).remove)

    async def settled(self) -> None:
        """Return when no compaction is under way in any space."""
        for space in list(self._spaces.values()):
            await space.settled()

    async def aclose(self) -> None:
        """Flush and release everything; the folder is free for another process. Safe to call twice."""
        self._flusher.cancel()
        spaces, self._spaces = self._spaces, {}
        try:
            for space in spaces.values():
                await space.aclose()
        finally:
            self._lock.close()

    def _space(self, name: str) -> EdgeSpace:
        if self._lock.closed:
            raise Unavailable("The vector store is closed.")
        if name not in self._spaces:
            self._spaces[name] = self._load(name)
        return self._spaces[name]

    def _load(self, name: str) -> EdgeSpace:
        folder = SpaceFolder(self._root, name)
        current = folder.current()
        if current is None:
            raise NotFound(f"There is no embedding space {name!r} in {self._root}.")
        folder.remove_leftovers(current)
        try:
            shard = EdgeShard.load(folder.generation(current.generation), current.dimension)
        except CitebusError as error:
            raise folder.damaged(error) from error
        return EdgeSpace(folder, shard, current, self._options.compact_above)

    def _writable(self, name: str) -> EdgeSpace:
        self._check_disk()
        return self._space(name)

    def _check_disk(self) -> None:
        free = shutil.disk_usage(self._root).free
        if free < self._options.min_free_bytes:
            raise Unavailable(
                f"Only {free // 2**20} MB are free on the disk of {self._root}, and vectors are not written below "
                f"{self._options.min_free_bytes // 2**20} MB; free some space."
            )

    async def _flush_regularly(self) -> None:
        while True:
            await asyncio.sleep(self._options.flush_every_s)
            for name, space in list(self._spaces.items()):
                try:
                    space.flush_when_quiet()
                except CitebusError as error:
                    log.warning("vectors.flush_failed", space=name, error=str(error))
                await asyncio.sleep(0)


def _of_vault(vault_id: str | None) -> PointFilter:
    return EVERYTHING if vault_id is None else FieldIn("vault_id", (vault_id,))
