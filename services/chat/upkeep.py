"""Keeps turns honest: signs of life for those that run here, an end for those whose process died or fell behind.

Every process does it; the store lets one of them end a turn, and the stream takes one last event. A process that lost
its own sight of Postgres for a while waits as long as a turn may be silent before it judges others: after an outage
the living need time to say that they live.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import structlog

from services.chat.announcing import Announcer
from services.chat.ports import AbandonedTurn, TurnStore, TurnStream, UnannouncedTurn
from services.chat.record import answer_text, stored_answer
from services.chat.running_turns import RunningTurns
from shared.cancelling import end_if_cancelled
from shared.contracts.chat import TurnEnd, TurnFailed
from shared.errors import Unavailable

_log = structlog.get_logger(__name__)

_AT_ONCE = 50
"""Turns that one sweep ends; the next one goes on."""


@dataclass(frozen=True, slots=True)
class UpkeepTimes:
    """Seconds. A turn whose process died ends after `silent_s` and two beats at the latest, well within 30."""

    beat_s: float = 2.0
    silent_s: float = 12.0
    """Without a sign of life for so long a turn counts as abandoned."""
    settled_s: float = 10.0
    """A turn that ended longer ago should have been told: longer than telling it takes."""


class Upkeep:
    """One loop per process."""

    def __init__(
        self, store: TurnStore, stream: TurnStream, announcer: Announcer, running: RunningTurns, times: UpkeepTimes
    ) -> None:
        self._store = store
        self._stream = stream
        self._announcer = announcer
        self._running = running
        self._times = times

    async def run(self) -> None:
        """Beat and sweep until cancelled."""
        loop = asyncio.get_running_loop()
        sighted = loop.time()
        while True:
            end_if_cancelled()
            try:
                await self.beat()
                if loop.time() - sighted >= self._times.silent_s:
                    await self.sweep_abandoned()
                await self.sweep_unannounced()
            except Unavailable as error:
                _log.info("chat.upkeep_waits", error=str(error))
                sighted = loop.time()
            await asyncio.sleep(self._times.beat_s)

    async def beat(self) -> None:
        """Show signs of life, and stop turns that no longer are ours to answer. Raises Unavailable."""
        ours = set(self._running.message_ids)
        if ours:
            lost = ours - await self._store.keep_alive(ours)
            self._running.stop_lost(lost)

    async def sweep_abandoned(self) -> None:
        """End turns whose process died. Raises Unavailable."""
        for turn in await self._store.abandoned(self._times.silent_s, _AT_ONCE):
            await self._end(turn)

    async def sweep_unannounced(self) -> None:
        """Tell the end of turns that a process ended and could not tell. Raises Unavailable."""
        for turn in await self._store.unannounced(self._times.settled_s, _AT_ONCE):
            await self._announcer.announce(turn)

    async def _end(self, turn: AbandonedTurn) -> None:
        streamed = await self._stream.read(turn.vault_id, turn.message.turn_id)
        last = streamed.events[-1] if streamed.events else None
        ending = last if isinstance(last, TurnEnd) else _failed(turn, seq=last.seq + 1 if last else 1)
        if not isinstance(last, TurnEnd):
            ending = ending.model_copy(update={"characters": len(answer_text(streamed.events))})
        answer = stored_answer(turn.message, streamed.events, ending)
        if await self._store.take_over(turn.vault_id, answer, ending, self._times.silent_s):
            _log.warning("chat.turn_taken_over", vault=turn.vault_id, turn=str(turn.message.turn_id))
            await self._announcer.announce(UnannouncedTurn(turn.vault_id, answer, ending))


def _failed(turn: AbandonedTurn, seq: int) -> TurnFailed:
    return TurnFailed(
        turn_id=turn.message.turn_id,
        seq=seq,
        conversation_id=turn.conversation_id,
        message_id=turn.message.message_id,
        code="unavailable",
        message="The process that was answering is gone: ask again.",
        retry_after_ms=0,
    )
