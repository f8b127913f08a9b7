"""The first hits of another retriever in an order that puts what says the same further down.

Method: Carbonell and Goldstein, "The use of MMR, diversity-based reranking", SIGIR 1998, over the chunks' dense
vectors, which the catalogue has: one read, no inference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
import numpy.typing as npt

from services.retrieval.refining import ChunkContents
from services.retrieval.retriever import Hit, RetrievalQuery, Retrieved, Retriever
from services.retrieval.retrievers.fusion import place_score, reasons
from shared.embedding.embedder import Vector
from shared.errors import CitebusError

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Diversity:
    """`relevance` is the paper's λ: 1 keeps the inner order, 0 only avoids repetition."""

    relevance: float = 0.7
    depth: int = 32


class MmrRetriever:
    """Asks the inner retriever for at least `depth` hits and reorders those."""

    def __init__(self, inner: Retriever, contents: ChunkContents, how: Diversity) -> None:
        self._inner = inner
        self._contents = contents
        self._how = how

    async def retrieve(self, query: RetrievalQuery) -> Retrieved:
        """Return at most `query.limit` hits, scored by their place; the inner order when vectors can't be read."""
        if query.plain:
            return await self._inner.retrieve(query)
        found = await self._inner.retrieve(replace(query, limit=max(query.limit, self._how.depth)))
        window, rest = found.hits[: self._how.depth], found.hits[self._how.depth :]
        order, why = await self._order(query, window)
        hits = (*(window[position] for position in order), *rest)
        return Retrieved(
            tuple(replace(hit, score=place_score(place)) for place, hit in enumerate(hits[: query.limit], start=1)),
            exhausted=found.exhausted and len(hits) <= query.limit,
            degraded=reasons(found.degraded, why),
        )

    async def _order(self, query: RetrievalQuery, window: Sequence[Hit]) -> tuple[Sequence[int], str | None]:
        ids = [hit.chunk_id for hit in window]
        try:
            vectors = await self._contents.vectors(query.vault_id, query.space, ids)
        except CitebusError as error:
            return range(len(window)), f"Repetition is not ranked down: {error}"
        alike = likeness(ids, vectors)
        return mmr_order([hit.score for hit in window], alike, self._how.relevance), None


def likeness(ids: Sequence[UUID], vectors: Mapping[UUID, Vector]) -> Matrix:
    """Return the cosines of all pairs, shape (n, n).

    A chunk without a vector yet is as like each other one as two chunks are in the mean: neither better nor worse off.
    """
    known = [position for position, chunk_id in enumerate(ids) if chunk_id in vectors]
    matrix = np.zeros((len(ids), len(ids)))
    if len(known) < 2:
        return matrix
    rows = np.stack([vectors[ids[position]] for position in known]).astype(np.float64)
    cosines = rows @ rows.T
    pairs = len(known) * (len(known) - 1)
    matrix[:] = (cosines.sum() - np.trace(cosines)) / pairs
    matrix[np.ix_(known, known)] = cosines
    return matrix


def mmr_order(scores: Sequence[float], alike: Matrix, relevance: float) -> list[int]:
    """Return all positions, each time that with the highest λ · score − (1 − λ) · likeness to the nearest chosen one.

    Scores count as parts of the best one, which comes first; ties fall to the position that came first.
    """
    relative = _relative(scores)
    nearest = np.zeros(len(scores))
    left = np.ones(len(scores), dtype=bool)
    order: list[int] = []
    for _ in scores:
        values = np.where(left, relevance * relative - (1.0 - relevance) * nearest, -np.inf)
        chosen = int(values.argmax())
        order.append(chosen)
        left[chosen] = False
        nearest = alike[chosen].copy() if len(order) == 1 else np.maximum(nearest, alike[chosen])
    return order


def _relative(scores: Sequence[float]) -> Matrix:
    """Return scores as parts of the best, so that their scale and the depth of the window do not matter."""
    values = np.asarray(scores, dtype=np.float64)
    best = values.max() if len(values) else 0.0
    return values / best if best > 0 else np.ones(len(values))
