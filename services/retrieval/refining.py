"""What retrievers that refine the answer of another one ask of the outside. All of it is optional.

A refining retriever that can't refine (a model is away, time is short) gives the answer that it would have refined,
and says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from shared.embedding.embedder import Vector
from shared.scoring.scorer import PassageScorer


class ChunkContents(Protocol):
    """What chunks hold, of one vault. Each call is one round trip; chunks that are not live are absent."""

    async def texts(self, vault_id: str, chunk_ids: Sequence[UUID]) -> Mapping[UUID, str]:
        """Return the chunks as a model reads them: title, headings, then the span. Raises Unavailable."""
        ...

    async def vectors(self, vault_id: str, space: str, chunk_ids: Sequence[UUID]) -> Mapping[UUID, Vector]:
        """Return the dense unit vectors of those chunks that have one in the space. Raises Unavailable."""
        ...


class QueryRewriter(Protocol):
    """Says a question in other words."""

    async def rewrites(self, query: str, count: int) -> tuple[str, ...]:
        """Return at most `count` wordings, none blank, none repeated, none the query itself; there may be fewer.

        Raises Unavailable or RateLimited (try later), InvalidInput (the provider refuses).
        """
        ...

    async def aclose(self) -> None:
        """Release the client; the rewriter is not used again."""
        ...


@dataclass(frozen=True, slots=True)
class Refiners:
    """Which of them this process has."""

    contents: ChunkContents | None = None
    scorer: PassageScorer | None = None
    rewriter: QueryRewriter | None = None


NO_REFINERS = Refiners()
"""Of a process that has none of them."""
