"""One embedding space in the in-process store: a shard that is written, searched and now and then compacted.

All of it runs on one event loop. The engine's calls are made in small batches, and other tasks run between them.
While a child process compacts a copy, reads and writes go on; the ids written meanwhile are remembered and copied
over before the handle is swapped. Whatever fails or is killed on the way, the old shard stays current and whole.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import structlog

from shared.embedding.embedder import Vector
from shared.errors import CitebusError
from shared.vectors.compaction import compaction_child
from shared.vectors.edge_folder import Current, SpaceFolder
from shared.vectors.edge_shard import EdgeShard
from shared.vectors.filter import PointFilter
from shared.vectors.ranking import Ranking
from shared.vectors.store import Point, PointQuery, ScoredPoint

_BATCH = 32
"""Points per call of the engine: about 5 ms in which nothing else runs."""

_CHECK_EVERY = 1_000
"""Points written between two looks at how much is not indexed; a look costs about 2 ms."""

_FLUSH_ABOVE = 10_000
"""Points written without a flush, whatever else goes on: about 2 s of replay at the next start, 50 MB of log."""

_CATCH_UPS = 3
"""Rounds of copying what was written meanwhile before writes have to wait for the last one."""

_LINGER_S = 45.0
"""How long a shard that was replaced stays open at least: until the system has written out what it had in memory.
Closing it at once would write all that itself, and stop the process for seconds."""

_QUIET_S = 5.0
"""It is closed once nobody has searched or written for so long: it may still stop the process for a moment."""

_LONGEST_LINGER_S = 3_600.0
"""It is closed after this whatever goes on: it takes memory."""

T = TypeVar("T")

log = structlog.get_logger(__name__)


class EdgeSpace:
    """Reads need no lock: each is one call. Writes take turns, and wait while the shard is copied or swapped."""

    def __init__(self, folder: SpaceFolder, shard: EdgeShard, current: Current, compact_above: int) -> None:
        self._folder = folder
        self._shard = shard
        self._current = current
        self._compact_above = compact_above
        self._turn = asyncio.Lock()
        self._busy = False
        self._used_at = time.monotonic()
        self._unflushed = 0
        self._unchecked = _CHECK_EVERY  # look at once: the last process may have left much
        self._compacting: asyncio.Task[None] | None = None
        self._retiring: set[asyncio.Task[None]] = set()
        self._written: set[UUID] | None = None

    @property
    def dimension(self) -> int:
        """Length of the dense vectors."""
        return self._shard.dimension

    async def upsert(self, points: Sequence[Point]) -> None:
        """Write whole points."""
        await self._write(points, EdgeShard.upsert)

    async def rewrite(self, points: Sequence[Point]) -> None:
        """Replace what existing points say, keep their dense vectors."""
        await self._write(points, EdgeShard.rewrite)

    async def set_dense(self, vectors: Mapping[UUID, Vector]) -> None:
        """Set dense vectors of existing points."""
        await self._write(list(vectors.items()), EdgeShard.set_dense)

    async def delete(self, ids: Sequence[UUID]) -> None:
        """Delete points."""
        await self._write(ids, EdgeShard.delete)

    def search(self, queries: Sequence[PointQuery]) -> list[list[ScoredPoint]]:
        """Return the hits of each query."""
        self._use()
        ranking = Ranking(queries)
        while ranking.open:
            ranking.take(self._shard.search(ranking.open))
        return ranking.hits

    def ids(self, where: PointFilter, start: UUID | None, limit: int) -> tuple[list[UUID], UUID | None]:
        """Return one page of ids and where the next one starts; pages of different shards fit together."""
        return self._shard.ids(where, start, limit)

    def count(self, where: PointFilter) -> int:
        """Return the exact number of points that match."""
        return self._shard.count(where)

    def flush_when_quiet(self) -> None:
        """Bring changes to the disk if nothing happened since the last call, or too much: it stops the process."""
        quiet, self._busy = not self._busy, False
        if self._unflushed and (quiet or self._unflushed > _FLUSH_ABOVE):
            self._shard.flush()
            self._unflushed = 0

    async def settled(self) -> None:
        """Return when no compaction is under way."""
        while self._compacting is not None:
            await asyncio.wait([self._compacting])

    async def aclose(self) -> None:
        """Give up a compaction that is under way, flush and release the shard."""
        for task in [*self._retiring, *([self._compacting] if self._compacting else [])]:
            task.cancel()
            await asyncio.wait([task])
        async with self._turn:
            self._shard.close()

    async def _write(self, items: Sequence[T], write: Callable[[EdgeShard, list[T]], list[UUID]]) -> None:
        for batch in _batches(items):
            async with self._turn:
                changed = write(self._shard, batch)
                self._use()
                self._unflushed += len(changed)
                if self._written is not None:
                    self._written.update(changed)
            self._unchecked += len(changed)
            await asyncio.sleep(0)
        self._look()

    def _use(self) -> None:
        self._busy, self._used_at = True, time.monotonic()

    def _look(self) -> None:
        """Start a compaction when there is enough to gain from it.

        That is when searches compare with too many vectors one by one, or when too many of the points in the graph
        are dead: they take space, and a graph with holes is searched badly. Both limits grow with the space, so that
        one that grows is not indexed again and again.
        """
        if self._unchecked < _CHECK_EVERY or self._compacting is not None:
            return
        self._unchecked = 0
        points, indexed = self._shard.sizes()
        outside = indexed - self._current.indexed
        dead = self._current.points + outside - points
        too_slow = (
            outside > max(self._compact_above, self._current.points // 5)
            and self._shard.dense_vectors() > self._compact_above
        )
        if too_slow or dead > max(self._compact_above, self._current.points) // 4:
            self._compacting = asyncio.create_task(self._compact(), name=f"compact {self._folder.path.name}")

    async def _compact(self) -> None:
        old, copy = self._shard, self._folder.generation()
        try:
            async with compaction_child(old.path, copy) as child:
                async with self._turn:
                    self._written = set()
                    await child.copy()
                await child.optimised()
            await self._swap(copy)
        except CitebusError as error:
            log.warning("vectors.compaction_failed", space=self._folder.path.name, error=str(error))
        finally:
            self._written = None
            await asyncio.shield(self._discard(old, copy))
            self._compacting = None
        if self._shard is not old:
            self._unchecked = _CHECK_EVERY  # much may have been written meanwhile
            self._look()

    async def _discard(self, old: EdgeShard, copy: Path) -> None:
        """Remove the shard that is not current."""
        unused = copy if self._shard is old else old.path
        await asyncio.to_thread(shutil.rmtree, unused, ignore_errors=True)
        if self._shard is not old:
            task = asyncio.create_task(self._retire(old), name=f"retire {old.path.name}")
            self._retiring.add(task)
            task.add_done_callback(self._retiring.discard)

    async def _swap(self, copy: Path) -> None:
        fresh = EdgeShard.load(copy, self.dimension)
        current = Current(copy.name, self.dimension, *fresh.sizes())
        try:
            for _ in range(_CATCH_UPS):
                await self._catch_up(fresh)
            async with self._turn:
                await self._catch_up(fresh)
                self._folder.switch(current)
                self._shard, self._current = fresh, current
        finally:
            if self._shard is not fresh:
                fresh.close()

    async def _retire(self, shard: EdgeShard) -> None:
        replaced_at = time.monotonic()
        try:
            await asyncio.sleep(_LINGER_S)
            while not self._may_close(replaced_at):  # noqa: ASYNC110  (that nothing happens is no event)
                await asyncio.sleep(1.0)
        finally:
            with contextlib.suppress(CitebusError):  # its files are gone, so there is nothing to lose
                shard.close()

    def _may_close(self, replaced_at: float) -> bool:
        now = time.monotonic()
        return now - self._used_at >= _QUIET_S or now - replaced_at >= _LONGEST_LINGER_S

    async def _catch_up(self, fresh: EdgeShard) -> None:
        ids, self._written = self._written or set(), set()
        for batch in _batches(list(ids)):
            fresh.copy_points(self._shard, batch)
            await asyncio.sleep(0)


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    remaining = iter(items)
    while batch := list(islice(remaining, _BATCH)):
        yield batch
