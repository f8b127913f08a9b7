"""The port of the vector store. Postgres decides what is live; a store may hold points that no row backs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol
from uuid import UUID

from shared.embedding.embedder import Space, Vector
from shared.pickling import pickled_by_fields
from shared.vectors.filter import EVERYTHING, PointFilter

DENSE = "dense"
"""Name of the dense vector of every point."""

SPARSE = "bm25"
"""Name of the sparse vector of every point; weights as `shared.vectors.bm25` gives them, IDF in the store."""

KEYWORD_FIELDS = (
    "vault_id", "page_id", "path", "path_prefixes", "kind", "title", "area", "level", "source_type",
    "confidence", "period", "artefacts", "tags", "last_verified",
)  # fmt: skip
"""Payload fields that a filter may name; each has a keyword index (Qdrant in strict mode refuses others)."""


@pickled_by_fields
@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term weights; `indices` distinct, both of one length."""

    indices: Sequence[int]
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Point:
    """One chunk in one space. `dense` may come later (set_dense).

    The payload holds KEYWORD_FIELDS, and beside them what `ranges.range_values` gives, for filters by range.
    """

    id: UUID
    sparse: SparseVector
    payload: Mapping[str, object]
    dense: Vector | None = None


@pickled_by_fields
@dataclass(frozen=True, slots=True)
class PointQuery:
    """Nearest points to one vector, dense or sparse."""

    vector: Vector | SparseVector
    limit: int
    where: PointFilter = EVERYTHING


class ScoredPoint(NamedTuple):
    """A hit: cosine for dense, BM25 for sparse; higher is better."""

    id: UUID
    score: float


class VectorStore(Protocol):
    """One collection per space. Every method raises Unavailable when the engine can't be reached or its disk is full.

    A space that was never ensured raises NotFound, a dense vector of another length SpaceMismatch. Writes are visible
    to reads when the call returns. All methods page through whatever they touch to the end, and split what is too
    large for one request.
    """

    async def ensure_space(self, space: Space) -> None:
        """Create the collection with its vectors and payload indexes where missing; idempotent.

        Raises SpaceMismatch when a collection of that name has another dimension.
        """
        ...

    async def upsert(self, space: str, points: Sequence[Point]) -> None:
        """Write whole points; an existing point with that id is replaced, its dense vector too."""
        ...

    async def rewrite(self, space: str, points: Sequence[Point]) -> None:
        """Replace payload and sparse vector of existing points; the dense vector only where the point brings one.

        A point that does not exist is ignored.
        """
        ...

    async def set_dense(self, space: str, vectors: Mapping[UUID, Vector]) -> None:
        """Set the dense vector of existing points; a point that does not exist is ignored."""
        ...

    async def delete(self, space: str, ids: Sequence[UUID]) -> None:
        """Delete points; ids that do not exist are ignored."""
        ...

    async def search(self, space: str, queries: Sequence[PointQuery]) -> list[list[ScoredPoint]]:
        """Return the hits of each query, best first, ties by id ascending, at most `limit` each, in one round trip.

        Points without the queried vector are not hits of that query.
        """
        ...

    def ids(self, space: str, vault_id: str | None = None) -> AsyncIterator[UUID]:
        """Yield the ids of all points, of one vault or of all, in ascending order."""
        ...

    async def count(self, space: str, vault_id: str | None = None) -> int:
        """Return the exact number of points, of one vault or of all."""
        ...

    async def drop_space(self, space: str) -> None:
        """Delete the collection; one that does not exist is ignored."""
        ...

    async def aclose(self) -> None:
        """Flush to disk and release the engine or client."""
        ...
