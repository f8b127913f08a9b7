"""Ends a turn: the answer is stored first, with its last event, and then told; a crash in between is made good later.

Whoever gets the answer's row out of `streaming` ends the turn, nobody else; and the stream takes an event only behind
the one that its writer knows. So there is one last event, whoever writes it: the engine, or the sweep of any process.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from decimal import Decimal

import structlog

from services.chat.announcing import Announcer
from services.chat.asking_provider import ProviderCall
from services.chat.ports import Finish, Prices, TurnStore, UnannouncedTurn
from services.chat.record import answer_text, cited_pages, stored_answer, stored_citations, support_counts
from services.chat.turn import StopReason, Turn
from services.chat.turn_log import TurnLog
from services.chat.writing import AnswerWriter
from shared.contracts.chat import (
    FinishReason,
    Refusal,
    TokenUsage,
    TurnCancelled,
    TurnDone,
    TurnEnd,
    TurnFailed,
    TurnTimings,
)
from shared.errors import CitebusError, RetryableError, Unavailable

_log = structlog.get_logger(__name__)

STORE_S = 8.0
"""How long storing is tried: a restart of Postgres fits in, and the grace of a shutdown holds it."""

_AGAIN_S = 0.25


@dataclass(slots=True)
class Outcome:
    """How a turn went, as far as it came."""

    finish_reason: FinishReason | None = None
    refusal: Refusal | None = None
    error: CitebusError | None = None
    stopped: StopReason | None = None
    call: ProviderCall | None = None
    removed_markers: int = 0
    timings: dict[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class Ending:
    """A turn that is over, not told yet."""

    turn: Turn
    log: TurnLog
    outcome: Outcome


class Endings:
    """Stores and tells how turns ended."""

    def __init__(self, store: TurnStore, announcer: Announcer, prices: Prices | None) -> None:
        self._store = store
        self._announcer = announcer
        self._prices = prices

    async def end(self, ending: Ending, writer: AnswerWriter | None) -> None:
        """End the turn; what its store or stream are away for, the sweep makes good later."""
        try:
            await self._flush(ending, writer)
            await self._end(ending)
        except Unavailable as error:
            _log.warning("chat.turn_not_ended", turn=str(ending.turn.begun.turn_id), error=str(error))

    async def _end(self, ending: Ending) -> None:
        event = self._event(ending)
        answer = stored_answer(ending.turn.unanswered(), ending.log.events, event)
        turn = UnannouncedTurn(ending.turn.begun.vault_id, answer, event)
        try:
            finish = await self._stored(turn)
        except Unavailable as error:  # the asker hears of it at once, the sweep stores it
            ending.outcome.error, ending.outcome.stopped = error, None
            await ending.log.append(self._event(ending))
            return
        if finish == "stored":
            await self._announce(turn, ending.log)
        elif finish == "gone":
            await ending.log.append(event)

    async def _flush(self, ending: Ending, writer: AnswerWriter | None) -> None:
        """Stream what was held back of an answer that was broken off."""
        try:
            await ending.log.settle()
            if writer is not None:
                await writer.finish()
        except Unavailable as error:
            ending.outcome.error = ending.outcome.error or error

    async def _stored(self, turn: UnannouncedTurn) -> Finish:
        """Store, trying again while Postgres is away for a moment."""
        loop = asyncio.get_running_loop()
        last_try = loop.time() + STORE_S
        while True:
            try:
                return await self._store.finish(turn.vault_id, turn.message, turn.ending)
            except Unavailable:
                if loop.time() >= last_try:
                    raise
            await asyncio.sleep(_AGAIN_S)

    async def _announce(self, turn: UnannouncedTurn, log: TurnLog) -> None:
        try:
            await log.append(turn.ending)
        except Unavailable:
            await self._announcer.announce(turn)
        else:
            await self._store.announced(turn.message.message_id)

    def _event(self, ending: Ending) -> TurnEnd:
        outcome, seq = ending.outcome, ending.log.next_seq
        told = self._told(ending)
        if outcome.error is not None and outcome.stopped is None:
            return TurnFailed.model_validate({**told, **_failure(outcome.error), "seq": seq})
        if outcome.stopped is not None or outcome.finish_reason is None:
            return TurnCancelled.model_validate({**told, "reason": outcome.stopped or "shutdown", "seq": seq})
        citations = stored_citations(ending.log.events)
        return TurnDone.model_validate(
            {
                **told,
                "seq": seq,
                "citations": cited_pages(citations),
                "finish_reason": outcome.finish_reason,
                "refused": outcome.refusal is not None,
                "refusal": outcome.refusal,
                "support": support_counts(citations),
            }
        )

    def _told(self, ending: Ending) -> dict[str, object]:
        """Return what every last event says."""
        begun, outcome = ending.turn.begun, ending.outcome
        told: dict[str, object] = {
            "turn_id": begun.turn_id,
            "conversation_id": begun.conversation_id,
            "message_id": begun.message_id,
            "characters": len(answer_text(ending.log.events)),
            "removed_markers": outcome.removed_markers,
        }
        timings = dict(outcome.timings)
        if (call := outcome.call) is not None:
            usage = call.usage
            cost = usage.cost if usage.cost is not None else self._cost(call)
            told["usage"] = TokenUsage(
                input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, counted=usage.counted
            )
            told |= {"provider": call.provider.name, "model": call.model}
            told["cost"] = None if cost is None else format(cost, "f")
            timings["first_token"] = (call.first_token_s or 0.0) * 1000
            timings["provider"] = (call.ended_s or 0.0) * 1000
        return {**told, "timings_ms": TurnTimings.model_validate(timings)}

    def _cost(self, call: ProviderCall) -> Decimal | None:
        return None if self._prices is None else self._prices.cost(call.provider.name, call.model, call.usage)


def _failure(error: CitebusError) -> dict[str, object]:
    retry_after_s = error.retry_after_s if isinstance(error, RetryableError) else None
    return {
        "code": error.code,
        "message": str(error),
        "retry_after_ms": None if retry_after_s is None else round(retry_after_s * 1000),
    }
