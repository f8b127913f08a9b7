"""A vector store in dictionaries that compares with every point: slow, exact, and plain enough to believe."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np

from shared.embedding.embedder import Space, Vector
from shared.errors import NotFound, SpaceMismatch, Unavailable
from shared.vectors.filter import EVERYTHING, FieldIn
from shared.vectors.payload import stored_filter, stored_payload
from shared.vectors.store import Point, PointQuery, ScoredPoint, SparseVector
from tests.fakes.filter_matching import matches


@dataclass
class _Collection:
    dimension: int
    points: dict[UUID, Point] = field(default_factory=dict[UUID, Point])


class InMemoryVectorStore:
    """Keeps every promise of VectorStore; `down = True` makes every call raise Unavailable."""

    def __init__(self) -> None:
        self.down = False
        self._spaces: dict[str, _Collection] = {}

    async def ensure_space(self, space: Space) -> None:
        self._check_up()
        collection = self._spaces.setdefault(space.name, _Collection(space.dimension))
        if collection.dimension != space.dimension:
            raise SpaceMismatch(f"{space.name} has {collection.dimension} dimensions, not {space.dimension}.")

    async def upsert(self, space: str, points: Sequence[Point]) -> None:
        collection = self._collection(space)
        for point in points:
            _check_dimension(collection, point.dense)
            collection.points[point.id] = replace(point, payload=stored_payload(point.payload))

    async def rewrite(self, space: str, points: Sequence[Point]) -> None:
        existing = self._collection(space).points
        there = [point for point in points if point.id in existing]
        await self.upsert(
            space,
            [point if point.dense is not None else replace(point, dense=existing[point.id].dense) for point in there],
        )

    async def set_dense(self, space: str, vectors: Mapping[UUID, Vector]) -> None:
        collection = self._collection(space)
        for id, vector in vectors.items():
            _check_dimension(collection, vector)
            if id in collection.points:
                collection.points[id] = replace(collection.points[id], dense=vector)

    async def delete(self, space: str, ids: Sequence[UUID]) -> None:
        points = self._collection(space).points
        for id in ids:
            points.pop(id, None)

    async def search(self, space: str, queries: Sequence[PointQuery]) -> list[list[ScoredPoint]]:
        collection = self._collection(space)
        return [_hits(collection, query) for query in queries]

    async def ids(self, space: str, vault_id: str | None = None) -> AsyncIterator[UUID]:
        for id in sorted(point.id for point in self._of_vault(space, vault_id)):
            yield id

    async def count(self, space: str, vault_id: str | None = None) -> int:
        return len(self._of_vault(space, vault_id))

    async def drop_space(self, space: str) -> None:
        self._check_up()
        self._spaces.pop(space, None)

    async def aclose(self) -> None:
        return None

    def point(self, space: str, id: UUID) -> Point | None:
        """Return what is stored, for assertions."""
        return self._spaces[space].points.get(id)

    def _of_vault(self, space: str, vault_id: str | None) -> list[Point]:
        where = EVERYTHING if vault_id is None else FieldIn("vault_id", (vault_id,))
        return [point for point in self._collection(space).points.values() if matches(point.payload, where)]

    def _collection(self, space: str) -> _Collection:
        self._check_up()
        if space not in self._spaces:
            raise NotFound(f"There is no space {space!r}.")
        return self._spaces[space]

    def _check_up(self) -> None:
        if self.down:
            raise Unavailable("The vector store does not answer.")


def _check_dimension(collection: _Collection, vector: Vector | None) -> None:
    if vector is not None and len(vector) != collection.dimension:
        raise SpaceMismatch(f"A vector of {len(vector)} numbers is not of a space of {collection.dimension}.")


def _hits(collection: _Collection, query: PointQuery) -> list[ScoredPoint]:
    if not isinstance(query.vector, SparseVector):
        _check_dimension(collection, query.vector)
    scored = [
        ScoredPoint(point.id, score)
        for point in collection.points.values()
        if matches(point.payload, query.where) and (score := _score(collection, point, query.vector)) is not None
    ]
    stored_filter(query.where)  # an unknown field is an error in an empty space too
    return sorted(scored, key=lambda hit: (-hit.score, hit.id))[: max(query.limit, 0)]


def _score(collection: _Collection, point: Point, vector: Vector | SparseVector) -> float | None:
    if isinstance(vector, SparseVector):
        return _bm25(collection, point, vector)
    if point.dense is None:
        return None
    norms = float(np.linalg.norm(point.dense)) * float(np.linalg.norm(vector))
    return float(np.dot(point.dense, vector)) / norms if norms else 0.0


def _bm25(collection: _Collection, point: Point, query: SparseVector) -> float | None:
    weights = dict(zip(point.sparse.indices, point.sparse.values, strict=True))
    terms = [(index, value) for index, value in zip(query.indices, query.values, strict=True) if index in weights]
    if not terms:
        return None
    return sum(value * weights[index] * _idf(collection, index) for index, value in terms)


def _idf(collection: _Collection, index: int) -> float:
    having = sum(index in point.sparse.indices for point in collection.points.values())
    return math.log(1.0 + (len(collection.points) - having + 0.5) / (having + 0.5))
