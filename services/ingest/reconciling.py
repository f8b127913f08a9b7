"""Brings the vector store back to what the rows say: points that are missing are made again, orphans go.

Everything comes from Postgres, vectors too: nothing is embedded and no file is read, also after the whole store was
wiped. A point that a worker has written and not yet committed looks like an orphan; so one is deleted only when two
sweeps in a row saw it, and a point deleted all the same would be made again by the next sweep.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

import structlog

from shared.embedding.embedder import Space
from shared.vectors.bm25 import Bm25Encoder
from shared.vectors.store import Point, VectorStore

_log = structlog.get_logger(__name__)

_BATCH = 256
"""Points restored or deleted at once."""


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """A live chunk as a point, but for its term weights."""

    lexical_text: str
    language: str
    point: Point


class PointSource(Protocol):
    """Live chunks as points (Postgres). Raises Unavailable."""

    def live_ids(self) -> AsyncIterator[UUID]:
        """Yield the ids of all live chunks, ascending."""
        ...

    async def points(self, space: str, ids: Sequence[UUID]) -> list[StoredPoint]:
        """Return the points of those that are still live, with the space's vector where one is kept."""
        ...

    async def unmark(self, ids: Sequence[UUID]) -> None:
        """Note that the points of these chunks have no vector."""
        ...


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What a sweep did."""

    restored: int
    deleted: int
    orphans: int
    """Points without a row that the next sweep deletes if they are still there."""


class Reconciling:
    """Sweeps one space; one sweep at a time."""

    def __init__(self, source: PointSource, store: VectorStore, bm25: Bm25Encoder, space: Space) -> None:
        self._source = source
        self._store = store
        self._bm25 = bm25
        self._space = space
        self._suspects: frozenset[UUID] = frozenset()

    async def reconcile(self) -> Reconciled:
        """Compare all ids of rows and points, and mend. Raises Unavailable; the next sweep goes on."""
        await self._store.ensure_space(self._space)
        missing: list[UUID] = []
        orphans: list[UUID] = []
        restored = 0
        async for id_, is_live in _differences(self._source.live_ids(), self._store.ids(self._space.name)):
            (missing if is_live else orphans).append(id_)
            if len(missing) == _BATCH:
                restored += await self._restore(missing)
                missing = []
        restored += await self._restore(missing)
        doomed = [id_ for id_ in orphans if id_ in self._suspects]
        if doomed:
            await self._store.delete(self._space.name, doomed)
        self._suspects = frozenset(orphans) - frozenset(doomed)
        result = Reconciled(restored, len(doomed), len(self._suspects))
        if restored or doomed:
            _log.info("reconciling.mended", space=self._space.name, restored=restored, deleted=len(doomed))
        return result

    async def _restore(self, ids: Sequence[UUID]) -> int:
        if not ids:
            return 0
        stored = await self._source.points(self._space.name, ids)
        points = [self._with_weights(one) for one in stored]
        await self._store.upsert(self._space.name, points)
        await self._source.unmark([point.id for point in points if point.dense is None])
        return len(points)

    def _with_weights(self, stored: StoredPoint) -> Point:
        sparse = self._bm25.document(stored.lexical_text, stored.language)
        return Point(stored.point.id, sparse, stored.point.payload, stored.point.dense)


async def _differences(rows: AsyncIterator[UUID], points: AsyncIterator[UUID]) -> AsyncIterator[tuple[UUID, bool]]:
    """Yield ids that only one side has, ascending: with True those of rows, with False those of points."""
    row, point = await anext(rows, None), await anext(points, None)
    while row is not None or point is not None:
        if point is None or (row is not None and row < point):
            assert row is not None
            yield row, True
            row = await anext(rows, None)
        elif row is None or point < row:
            yield point, False
            point = await anext(points, None)
        else:
            row, point = await anext(rows, None), await anext(points, None)
