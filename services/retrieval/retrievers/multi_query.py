"""One question asked in several wordings, and the answers fused: finds what the asker's own words miss.

The wordings come from a chat model, so that this costs a call to a provider; while that one thinks, the question as it
was asked is answered already.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from services.retrieval.refining import QueryRewriter
from services.retrieval.retriever import Hit, RetrievalQuery, Retrieved, Retriever
from services.retrieval.retrievers.fusion import fuse, reasons
from shared.embedding.batching import gather_or_cancel
from shared.errors import CitebusError, DeadlineExceeded


@dataclass(frozen=True, slots=True)
class Rewording:
    """How many wordings are asked besides the asker's own, and how much each counts (the asker's: 1)."""

    count: int = 3
    weight: float = 0.5
    time_share: float = 0.5
    """Of the time that is left."""


class MultiQueryRetriever:
    """Asks the inner retriever several times at once."""

    def __init__(
        self,
        inner: Retriever,
        rewriter: QueryRewriter,
        how: Rewording,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._inner = inner
        self._rewriter = rewriter
        self._how = how
        self._clock = clock

    async def retrieve(self, query: RetrievalQuery) -> Retrieved:
        """Return at most `query.limit` hits; the inner answer alone without other wordings. Raises as `inner`."""
        if query.plain:
            return await self._inner.retrieve(query)
        found, why = await self._both(query)
        wordings = query.judgements.rewrites[query.text]
        others = [] if isinstance(wordings, CitebusError) else await self._answers(query, wordings)
        if not others:
            return replace(found, degraded=reasons(found.degraded, why))
        return self._fused(query, [found, *others])

    async def _both(self, query: RetrievalQuery) -> tuple[Retrieved, str | None]:
        """Return the answer to the question as asked, having other wordings written meanwhile."""
        rewriting = asyncio.ensure_future(self._reword(query))
        try:
            return await self._inner.retrieve(query), await rewriting
        finally:
            rewriting.cancel()
            await asyncio.wait({rewriting})

    async def _reword(self, query: RetrievalQuery) -> str | None:
        """Put wordings, or the reason why there are none, among the judgements; return that reason."""
        known = query.judgements.rewrites
        if query.text not in known:
            known[query.text] = await self._wordings(query)
        outcome = known[query.text]
        return f"Asked in one wording only: {outcome}" if isinstance(outcome, CitebusError) else None

    async def _wordings(self, query: RetrievalQuery) -> tuple[str, ...] | CitebusError:
        limit_s = None if math.isinf(query.until) else self._how.time_share * (query.until - self._clock())
        try:
            async with asyncio.timeout(limit_s):
                return (await self._rewriter.rewrites(query.text, self._how.count))[: self._how.count]
        except TimeoutError:
            return DeadlineExceeded("Other wordings were not there in time.")
        except CitebusError as error:
            return error

    async def _answers(self, query: RetrievalQuery, wordings: Sequence[str]) -> list[Retrieved]:
        return await gather_or_cancel(self._inner.retrieve(replace(query, text=wording)) for wording in wordings)

    def _fused(self, query: RetrievalQuery, answers: Sequence[Retrieved]) -> Retrieved:
        """The cosine of a hit is that with the question as asked; other wordings have none to offer."""
        cosines = {hit.chunk_id: hit.similarity for hit in answers[0].hits}
        weights = (1.0, *(self._how.weight for _ in answers[1:]))
        fused = fuse([[hit.chunk_id for hit in answer.hits] for answer in answers], weights)
        return Retrieved(
            tuple(Hit(chunk_id, score, cosines.get(chunk_id)) for chunk_id, score in fused[: query.limit]),
            exhausted=all(answer.exhausted for answer in answers) and len(fused) <= query.limit,
            degraded=reasons(*(answer.degraded for answer in answers)),
        )
