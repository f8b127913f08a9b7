"""The port of everything that finds chunks for a query, and what such a retriever asks itself.

A retriever may find chunks that are no longer live: the catalogue decides. Nothing here writes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from shared.embedding.embedder import Vector
from shared.errors import CitebusError, RetryableError
from shared.vectors.filter import PointFilter
from shared.vectors.store import PointQuery, ScoredPoint, SparseVector


@dataclass(slots=True)
class QueryVectors:
    """What embedding gave within one request, by text: none is embedded twice, no failing provider asked twice."""

    outcomes: dict[str, Vector | RetryableError] = field(default_factory=dict[str, "Vector | RetryableError"])
    spent_s: float = 0.0
    """Time that went into embedding, so that it is told apart from searching."""


@dataclass(slots=True)
class Judgements:
    """What other models than the embedder said within one request, so that none is asked the same twice."""

    scores: dict[tuple[str, UUID], float] = field(default_factory=dict[tuple[str, UUID], float])
    """Of query text and chunk."""
    rewrites: dict[str, tuple[str, ...] | CitebusError] = field(
        default_factory=dict[str, "tuple[str, ...] | CitebusError"]
    )
    """By query text: other wordings, or why there are none."""


@dataclass(frozen=True, slots=True)
class RetrievalQuery:
    """One search in one space."""

    text: str
    languages: tuple[str, ...]
    """ISO 639-1 codes of the vault's pages: how the words may have been stemmed."""
    space: str
    where: PointFilter
    limit: int
    """How deep each ranking is read; a retriever may return up to this many hits per ranking that it fuses."""
    embed_timeout_s: float
    vectors: QueryVectors = field(default_factory=QueryVectors)
    """Shared by all queries of one request."""
    vault_id: str = ""
    """Whose texts and vectors may be read."""
    until: float = math.inf
    """End of the request's time, on `time.perf_counter`."""
    plain: bool = False
    """The first ranking is enough: it only chooses among the chunks of pages that are found already."""
    judgements: Judgements = field(default_factory=Judgements)
    """Shared by all queries of one request."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that was found, live or not."""

    chunk_id: UUID
    score: float
    """Higher is better; comparable within one answer only."""
    similarity: float | None
    """Cosine of query and chunk, −1 to 1; None when no dense vector was compared."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Hits without repeats, best first, ties by id; at most `limit`, or that many for each ranking that is fused."""

    hits: tuple[Hit, ...]
    exhausted: bool
    """A larger `limit` would find nothing more."""
    degraded: str | None = None
    """Why the retriever did not run whole."""


class Retriever(Protocol):
    """Finds chunks for a query. Safe to call concurrently."""

    async def retrieve(self, query: RetrievalQuery) -> Retrieved:
        """Return what the store has; raises RetryableError when the store, or an embedder that it needs, is away."""
        ...


class VectorSearch(Protocol):
    """The one method of a VectorStore that retrieval uses, so that it can't write."""

    async def search(self, space: str, queries: Sequence[PointQuery]) -> list[list[ScoredPoint]]:
        """See VectorStore.search."""
        ...


class LexicalEncoder(Protocol):
    """Turns a query into term weights, as the chunks were."""

    def query(self, text: str, languages: Sequence[str]) -> SparseVector:
        """Return the weights of the query's terms in any of the languages; empty when it has no terms."""
        ...

    def leading(self, text: str, languages: Sequence[str]) -> tuple[str, ...]:
        """Return which of the languages a query seems to be in; all of them when nothing tells."""
        ...
