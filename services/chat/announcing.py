"""Brings a turn's last event into the stream, when it may be missing or the stream may hold more than is known."""

from __future__ import annotations

from services.chat.ports import StreamedTurn, TurnStore, TurnStream, UnannouncedTurn
from services.chat.record import answer_text, stored_answer
from shared.contracts.chat import TurnEnd

_TRIES = 8
"""A writer that should have stopped adds an event or two before it notices."""


class Announcer:
    """Tells how stored turns ended. Safe to run in several processes at once."""

    def __init__(self, store: TurnStore, stream: TurnStream) -> None:
        self._store = store
        self._stream = stream

    async def announce(self, turn: UnannouncedTurn) -> None:
        """Append the last event unless the stream has one; store the answer as it was streamed. Raises Unavailable."""
        for _ in range(_TRIES):
            streamed = await self._stream.read(turn.vault_id, turn.message.turn_id)
            ending, told = _ending(turn, streamed)
            await self._agree(turn, streamed, ending)
            if told or await self._stream.append(turn.vault_id, ending, streamed.position) is not None:
                await self._store.announced(turn.message.message_id)
                return

    async def _agree(self, turn: UnannouncedTurn, streamed: StreamedTurn, ending: TurnEnd) -> None:
        """Store the answer anew when the stream says otherwise, as long as the stream still has it from the start."""
        if not streamed.events or streamed.events[0].seq != 1:
            return
        if answer_text(streamed.events) != turn.message.text or type(ending) is not type(turn.ending):
            await self._store.rewrite(turn.vault_id, stored_answer(turn.message, streamed.events, ending))


def _ending(turn: UnannouncedTurn, streamed: StreamedTurn) -> tuple[TurnEnd, bool]:
    """Return the last event, and whether it is in the stream already."""
    if not streamed.events:
        return turn.ending, False
    last = streamed.events[-1]
    if isinstance(last, TurnEnd):
        return last, True
    characters = len(answer_text(streamed.events))
    return turn.ending.model_copy(update={"seq": last.seq + 1, "characters": characters}), False
