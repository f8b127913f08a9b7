"""A retriever that has a substitute: when it can't answer now, the substitute does and the reply says so."""

from __future__ import annotations

from dataclasses import replace

from services.retrieval.retriever import RetrievalQuery, Retrieved, Retriever
from shared.errors import RetryableError


class FallbackRetriever:
    """Asks `first`, and `second` when that one fails for now."""

    def __init__(self, first: Retriever, second: Retriever) -> None:
        self._first = first
        self._second = second

    async def retrieve(self, query: RetrievalQuery) -> Retrieved:
        """Return the answer of the first that has one; raises what the second raises."""
        try:
            return await self._first.retrieve(query)
        except RetryableError as error:
            return replace(await self._second.retrieve(query), degraded=f"Searched by words only: {error}")
