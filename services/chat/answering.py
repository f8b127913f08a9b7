"""The engine: question → search → prompt → provider → events → stored answer. Whole and streamed answers share it.

One search comes before any delta; nothing found, or nothing that bears on the question, is a refusal without a call to
the provider. A turn ends with exactly one of TurnDone, TurnFailed and TurnCancelled, stored before it is told
(services.chat.ending).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from services.chat.asking_provider import Patience, ProviderCall
from services.chat.context_entries import context_entries
from services.chat.ending import Ending, Endings, Outcome
from services.chat.follow_up import depends, standalone
from services.chat.ports import Clock, EvidenceGate, Search, SupportCheck, TurnStream
from services.chat.prompting import PromptParts, answer_prompt
from services.chat.question import searched
from services.chat.refusals import refusal_text
from services.chat.turn import Turn
from services.chat.turn_log import TurnLog
from services.chat.writing import AnswerWriter, Writing
from shared.contracts.chat import FinishReason, Refusal, TurnSources
from shared.contracts.search import SearchReply, SearchRequest
from shared.errors import CitebusError


@dataclass(frozen=True, slots=True)
class AnswerBounds:
    """Limits of one answer."""

    search_deadline_ms: int = 10_000
    max_answer_bytes: int = 262_144
    patience: Patience = field(default_factory=Patience)


@dataclass(frozen=True, slots=True)
class Judges:
    """What judges texts; None: not judged."""

    support: SupportCheck | None = None
    evidence: EvidenceGate | None = None


@dataclass(slots=True)
class _Run:
    """One turn on its way."""

    turn: Turn
    log: TurnLog
    outcome: Outcome = field(default_factory=Outcome)
    writer: AnswerWriter | None = None


class Answering:
    """Answers turns; safe to call concurrently."""

    def __init__(  # noqa: PLR0913, PLR0917  (one argument per port)
        self,
        search: Search,
        stream: TurnStream,
        endings: Endings,
        judges: Judges,
        bounds: AnswerBounds,
        clock: Clock = time.monotonic,
    ) -> None:
        self._search = search
        self._stream = stream
        self._endings = endings
        self._judges = judges
        self._bounds = bounds
        self._clock = clock

    async def answer(self, turn: Turn) -> None:
        """Answer, and end the turn, whatever happens; does not raise errors of citebus."""
        run = _Run(turn, TurnLog(self._stream, turn.begun))
        try:
            async with turn.running():
                await self._answered(run)
        except CitebusError as error:
            run.outcome.error = error
        run.outcome.stopped = turn.stopped
        if run.writer is not None:
            run.outcome.removed_markers = run.writer.removed_markers
            run.outcome.timings["support"] = run.writer.support_s * 1000
        run.outcome.timings["total"] = self._since(turn.started)
        await self._endings.end(Ending(turn, run.log, run.outcome), run.writer)

    async def _answered(self, run: _Run) -> None:
        context = await self._searched(run)
        refusal = await self._refusal(run, context)
        if refusal is not None:
            await self._refuse(run, refusal)
            return
        await run.log.emit(
            TurnSources,
            query=context.query,
            citations=context.citations,
            data_version=context.data_version,
            retriever=context.retriever,
            truncated=context.truncated,
            degraded=context.degraded,
        )
        run.outcome.finish_reason = await self._asked(run, context)
        if run.outcome.finish_reason == "refused":
            run.outcome.refusal = "weak_evidence"

    async def _searched(self, run: _Run) -> SearchReply:
        started = self._clock()
        request = run.turn.request
        earlier = [past.question for past in run.turn.begun.history]
        query = SearchRequest(
            query=searched(standalone(run.turn.question, earlier)),
            k=request.k,
            context_window=request.context_window,
            expansion_depth=request.expansion_depth,
            filters=request.filters,
            profile=request.profile,
            deadline_ms=min(self._bounds.search_deadline_ms, request.deadline_ms),
        )
        try:
            return await self._search.search(run.turn.begun.vault_id, query)
        finally:
            run.outcome.timings["search"] = self._since(started)

    async def _refusal(self, run: _Run, context: SearchReply) -> Refusal | None:
        if not context.citations:
            return "nothing_found"
        if self._judges.evidence is None:
            return None
        started = self._clock()
        enough = await self._has_enough(run, context)
        run.outcome.timings["evidence"] = self._since(started)
        return None if enough else "weak_evidence"

    async def _has_enough(self, run: _Run, context: SearchReply) -> bool:
        """Ask the gate; a follow-up, which says little itself, also has what the question before it has."""
        assert self._judges.evidence is not None
        questions = [context.query]
        if run.turn.begun.history and depends(run.turn.question):
            questions.append(run.turn.begun.history[-1].question)
        for question in questions:
            if await self._judges.evidence.enough(run.turn.begun.vault_id, question, context):
                return True
        return False

    async def _refuse(self, run: _Run, refusal: Refusal) -> None:
        run.outcome.refusal, run.outcome.finish_reason = refusal, "refused"
        run.writer = self._writer(run, passages={})
        await run.writer.write(refusal_text(refusal, run.turn.question))
        await run.writer.finish()

    async def _asked(self, run: _Run, context: SearchReply) -> FinishReason:
        started = self._clock()
        turn = run.turn
        messages = answer_prompt(
            PromptParts(turn.question, context.text, turn.grounding, turn.begun.history, turn.request.context_window)
        )
        run.outcome.timings["prompt"] = self._since(started)
        entries = context_entries(context)
        run.writer = self._writer(run, {each.n: (entries[each.n].text,) for each in context.citations})
        run.outcome.call = ProviderCall(turn.provider, messages, self._clock())
        return await run.outcome.call.listen(context, run.writer, self._bounds.patience, self._clock)

    def _writer(self, run: _Run, passages: dict[int, tuple[str, ...]]) -> AnswerWriter:
        writing = Writing(passages, self._judges.support, self._bounds.max_answer_bytes, run.turn.request.stream)
        return AnswerWriter(run.log, writing)

    def _since(self, started: float) -> float:
        return (self._clock() - started) * 1000
