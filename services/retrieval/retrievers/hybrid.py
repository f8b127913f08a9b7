"""Dense and sparse rankings fused by reciprocal rank, in one round trip to the store.

Fused here and not in the engine, so that each hit's cosine stays known.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.retrieval.retriever import Hit, RetrievalQuery, Retrieved, VectorSearch
from services.retrieval.retrievers.dense import DenseRetriever, similarity
from services.retrieval.retrievers.fusion import RANK_CONSTANT, fuse
from services.retrieval.retrievers.sparse import SparseRetriever


@dataclass(frozen=True, slots=True)
class Fusion:
    """How much each ranking counts."""

    k: float = RANK_CONSTANT
    dense_weight: float = 1.0
    sparse_weight: float = 1.0
    foreign_weight: float = 1e-6
    """Of the dense ranking, for a query in a language that the model was not made for: what words find comes first, in
    the order of words, and what only the model finds stands behind it."""


class HybridRetriever:
    """Asks for both rankings at once and fuses them; where one has no opinion, the other decides."""

    def __init__(self, store: VectorSearch, dense: DenseRetriever, sparse: SparseRetriever, fusion: Fusion) -> None:
        self._store = store
        self._dense = dense
        self._sparse = sparse
        self._fusion = fusion

    async def retrieve(self, query: RetrievalQuery) -> Retrieved:
        """Return the fused ranking. Raises RetryableError when embedding or store are away."""
        dense_query = await self._dense.point_query(query)
        sparse_query = self._sparse.point_query(query)
        queries = [dense_query] if sparse_query is None else [dense_query, sparse_query]
        rankings = await self._store.search(query.space, queries)
        weights = self._weights(query)[: len(rankings)]
        cosines = {point.id: similarity(point) for point in rankings[0]}
        fused = fuse([[point.id for point in ranking] for ranking in rankings], weights, self._fusion.k)
        return Retrieved(
            tuple(Hit(chunk_id, score, cosines.get(chunk_id)) for chunk_id, score in fused),
            exhausted=all(len(ranking) < query.limit for ranking in rankings),
        )

    def _weights(self, query: RetrievalQuery) -> tuple[float, float]:
        fusion = self._fusion
        known = self._dense.knows_all(query.languages) or self._dense.knows(self._sparse.languages_of(query))
        return (fusion.dense_weight if known else fusion.foreign_weight, fusion.sparse_weight)
