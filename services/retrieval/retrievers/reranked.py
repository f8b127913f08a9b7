"""The first hits of another retriever in an order that a model agrees with which reads query and chunk together.

The model's ranking is fused with the one it was given: alone it was no better on judged sets than the hybrid, and it
knows English only. It reads a slice at a time from the best hit down, so that short time makes the answer less refined,
not late.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from services.retrieval.refining import ChunkContents
from services.retrieval.retriever import Hit, RetrievalQuery, Retrieved, Retriever
from services.retrieval.retrievers.fusion import fuse, reasons
from shared.errors import CitebusError
from shared.scoring.scorer import PassageScorer

_SLICE = 4
"""Texts of one call: two threads read them in a seventh of a second, so that little is lost where time ends."""


@dataclass(frozen=True, slots=True)
class Reranking:
    """How deep the model reads and how much it counts."""

    depth: int = 12
    """Reading 24 was no better on judged questions, and took twice the time."""
    weight: float = 0.5
    """Of the model's ranking, below 1; the inner one has the rest, so that what was not read keeps an order."""
    time_share: float = 0.6
    """Of the time that is left when the inner retriever has answered."""


class RerankedRetriever:
    """Asks the inner retriever for at least `depth` hits and lets a scorer read those."""

    def __init__(
        self,
        inner: Retriever,
        contents: ChunkContents,
        scorer: PassageScorer,
        how: Reranking,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._inner = inner
        self._contents = contents
        self._scorer = scorer
        self._how = how
        self._clock = clock

    async def retrieve(self, query: RetrievalQuery) -> Retrieved:
        """Return at most `query.limit` hits; what could not be scored keeps its inner rank only. Raises as `inner`."""
        if query.plain:
            return await self._inner.retrieve(query)
        found = await self._inner.retrieve(replace(query, limit=max(query.limit, self._how.depth)))
        window = [hit.chunk_id for hit in found.hits[: self._how.depth]]
        why = await self._judge(query, window)
        hits = self._fused(query, found.hits, window)
        return Retrieved(
            hits[: query.limit],
            exhausted=found.exhausted and len(hits) <= query.limit,
            degraded=reasons(found.degraded, why),
        )

    def _fused(self, query: RetrievalQuery, hits: Sequence[Hit], window: Sequence[UUID]) -> tuple[Hit, ...]:
        scores = query.judgements.scores
        judged = [chunk_id for chunk_id in window if (query.text, chunk_id) in scores]
        judged.sort(key=lambda chunk_id: -scores[query.text, chunk_id])  # stable: equal scores keep the inner order
        weight = self._how.weight
        by_id = {hit.chunk_id: hit for hit in hits}
        fused = fuse([[hit.chunk_id for hit in hits], judged], (1.0 - weight, weight))
        return tuple(replace(by_id[chunk_id], score=score) for chunk_id, score in fused)

    async def _judge(self, query: RetrievalQuery, window: Sequence[UUID]) -> str | None:
        """Score what has no score yet, best hit first; return why some were not reached."""
        scores = query.judgements.scores
        left = [chunk_id for chunk_id in window if (query.text, chunk_id) not in scores]
        if not left:
            return None
        try:
            async with asyncio.timeout(self._limit_s(query)):
                texts = await self._contents.texts(query.vault_id, left)
                await asyncio.sleep(0)  # where time that is over already is noticed, whatever the reads do
                readable = [chunk_id for chunk_id in left if chunk_id in texts]
                for start in range(0, len(readable), _SLICE):
                    part = readable[start : start + _SLICE]
                    found = await self._scorer.scores(query.text, [texts[chunk_id] for chunk_id in part])
                    scores.update(((query.text, chunk_id), score) for chunk_id, score in zip(part, found, strict=True))
        except TimeoutError:
            judged = sum((query.text, chunk_id) in scores for chunk_id in window)
            return f"Reranked {judged} of {len(window)} hits: there was no time for more."
        except CitebusError as error:
            return f"Not reranked: {error}"
        return None

    def _limit_s(self, query: RetrievalQuery) -> float | None:
        if math.isinf(query.until):
            return None
        return self._how.time_share * (query.until - self._clock())
