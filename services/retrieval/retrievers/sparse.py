"""Best chunks by BM25: no inference call, and it finds chunks that have no dense vector yet."""

from __future__ import annotations

from services.retrieval.retriever import Hit, LexicalEncoder, RetrievalQuery, Retrieved, VectorSearch
from shared.vectors.store import PointQuery


class SparseRetriever:
    """Asks the store for the chunks that share terms with the query."""

    def __init__(self, store: VectorSearch, encoder: LexicalEncoder) -> None:
        self._store = store
        self._encoder = encoder

    async def retrieve(self, query: RetrievalQuery) -> Retrieved:
        """Return the best chunks, scored by BM25; none for a query without terms. Raises Unavailable."""
        point_query = self.point_query(query)
        if point_query is None:
            return Retrieved((), exhausted=True)
        (points,) = await self._store.search(query.space, [point_query])
        return Retrieved(tuple(Hit(p.id, p.score, None) for p in points), exhausted=len(points) < query.limit)

    def point_query(self, query: RetrievalQuery) -> PointQuery | None:
        """Return what to ask the store; None when the query has no terms, as engines refuse an empty vector."""
        weights = self._encoder.query(query.text, query.languages)
        return PointQuery(weights, query.limit, query.where) if len(weights.indices) else None

    def languages_of(self, query: RetrievalQuery) -> tuple[str, ...]:
        """Return which of the vault's languages the query seems to be in; all of them when nothing tells."""
        return self._encoder.leading(query.text, query.languages)
