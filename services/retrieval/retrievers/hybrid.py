"""Dense and sparse rankings fused by reciprocal rank, in one round trip to the store.

Fused here and not in the engine, so that each hit's cosine stays known. Method: Cormack, Clarke, Büttcher,
"Reciprocal rank fusion outperforms Condorcet and individual rank learning methods", SIGIR 2009.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from services.retrieval.ports import Hit, RetrievalQuery, Retrieved, VectorSearch
from services.retrieval.retrievers.dense import DenseRetriever, similarity
from services.retrieval.retrievers.sparse import SparseRetriever
from shared.vectors.store import ScoredPoint


@dataclass(frozen=True, slots=True)
class Fusion:
    """How much each ranking counts; `k` dampens the lead of the first ranks [60, as in the paper]."""

    k: float = 60.0
    dense_weight: float = 1.0
    sparse_weight: float = 1.0


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
        weights = (self._fusion.dense_weight, self._fusion.sparse_weight)[: len(rankings)]
        cosines = {point.id: similarity(point) for point in rankings[0]}
        fused = fuse(rankings, weights, self._fusion.k)
        return Retrieved(
            tuple(Hit(chunk_id, score, cosines.get(chunk_id)) for chunk_id, score in fused),
            exhausted=all(len(ranking) < query.limit for ranking in rankings),
        )


def fuse(
    rankings: Sequence[Sequence[ScoredPoint]], weights: Sequence[float], k: float = 60.0
) -> list[tuple[UUID, float]]:
    """Return ids with Σ weight / (k + rank) over the rankings that hold them, rank from 1; best first, ties by id."""
    scores: defaultdict[UUID, float] = defaultdict(float)
    for ranking, weight in zip(rankings, weights, strict=True):
        for rank, point in enumerate(ranking, start=1):
            scores[point.id] += weight / (k + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))
