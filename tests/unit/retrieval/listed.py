"""An inner retriever that answers from a list, for those that refine its answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from services.retrieval.retriever import Hit, RetrievalQuery, Retrieved
from shared.errors import Unavailable
from shared.vectors.filter import EVERYTHING


@dataclass(slots=True)
class ListedRetriever:
    """Gives the numbers listed for a query's text, best first, with scores that fall and a cosine of 0.5."""

    listed: dict[str, Sequence[int]]
    degraded: str | None = None
    queries: list[RetrievalQuery] = field(default_factory=list[RetrievalQuery])
    away: bool = False

    async def retrieve(self, query: RetrievalQuery) -> Retrieved:
        self.queries.append(query)
        if self.away:
            raise Unavailable("The store is away.")
        numbers = self.listed.get(query.text, ())
        hits = [Hit(UUID(int=number), 1.0 / (2 + place), 0.5) for place, number in enumerate(numbers)]
        return Retrieved(tuple(hits[: query.limit]), len(hits) <= query.limit, self.degraded)


def asked(text: str = "red roses", limit: int = 10, **more: object) -> RetrievalQuery:
    """Return a query of the vault `v`; `more` become fields."""
    query = RetrievalQuery(text, ("en",), "space", EVERYTHING, limit, embed_timeout_s=5, vault_id="v")
    for name, value in more.items():
        object.__setattr__(query, name, value)
    return query


def numbers(found: Retrieved) -> list[int]:
    """Return the hits as numbers, in their order."""
    return [hit.chunk_id.int for hit in found.hits]
