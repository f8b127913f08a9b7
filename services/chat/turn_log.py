"""The events of one turn while it is answered: numbered from 1, each stored in the stream before the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from services.chat.ports import BegunTurn, TurnStream
from shared.contracts.chat import TurnEvent
from shared.errors import Unavailable

_LOST = "The turn's events were lost, or another process ended the turn: ask again."


class TurnLog:
    """Writes one turn. Only one task uses it, and calls `settle` first after its work was broken off."""

    def __init__(self, stream: TurnStream, turn: BegunTurn) -> None:
        self._stream = stream
        self._turn = turn
        self._position = 0
        self._events: list[TurnEvent] = []
        self._storing: tuple[TurnEvent, asyncio.Future[int | None]] | None = None
        self._broken: str | None = None

    @property
    def events(self) -> Sequence[TurnEvent]:
        """What is in the stream."""
        return self._events

    @property
    def next_seq(self) -> int:
        """`seq` of the next event."""
        return len(self._events) + 1

    async def emit(self, kind: type[TurnEvent], **fields: Any) -> None:
        """Store the next event. Raises Unavailable: NATS is away, or the stream is no longer what was written.

        When cancelled, the event is stored all the same, or not: `settle` tells.
        """
        await self.append(kind(turn_id=self._turn.turn_id, seq=self.next_seq, **fields))

    async def append(self, event: TurnEvent) -> None:
        """As `emit`, for an event that is made already."""
        if self._broken is not None:
            raise Unavailable(self._broken)
        storing = asyncio.ensure_future(self._stream.append(self._turn.vault_id, event, self._position))
        self._storing = (event, storing)
        await self.settle()

    async def settle(self) -> None:
        """Wait for the event that is being stored. Raises as `emit` does."""
        if self._storing is None:
            return
        event, storing = self._storing
        try:
            position = await asyncio.shield(storing)
        except Unavailable as error:
            self._storing, self._broken = None, str(error)
            raise
        self._storing = None
        if position is None:
            self._broken = _LOST
            raise Unavailable(_LOST)
        self._position = position
        self._events.append(event)
