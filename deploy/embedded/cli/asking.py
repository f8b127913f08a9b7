"""One question of a command: asked, listened to, and cancelled on the server when the reader presses Ctrl-C."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from deploy.embedded.cli.answer import Answer
from deploy.embedded.cli.interrupts import interrupts
from deploy.embedded.client import BusClient
from shared.contracts.chat import AnyTurnEvent, ChatRequest

CANCEL_S = 5.0
"""What a cancelled turn may take to end: the service closes the provider's request within a second."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A question on its way."""

    client: BusClient
    vault_id: str
    request: ChatRequest
    show: Callable[[AnyTurnEvent], None]
    """Takes each event as it comes."""
    cancel_s: float = CANCEL_S
    answer: Answer = field(default_factory=Answer)

    async def finished(self) -> Answer:
        """Ask, and return the answer when it has ended.

        Ctrl-C cancels the turn; a second one, or a server that does not react to the first, ends the waiting. Then the
        answer is what there is. Raises as BusClient.ask does.
        """
        with interrupts() as pressed:
            reading = asyncio.create_task(self._read())
            stopping = asyncio.create_task(self._cancel_when_told(pressed))
            try:
                await asyncio.wait({reading, stopping}, return_when=asyncio.FIRST_COMPLETED)
                await (reading if reading.done() else stopping)
            finally:
                for task in (reading, stopping):
                    task.cancel()
                await asyncio.wait({reading, stopping})
        return self.answer

    async def _read(self) -> None:
        async with aclosing(self.client.ask(self.vault_id, self.request)) as events:
            async for event in events:
                self.answer.take(event)
                self.show(event)

    async def _cancel_when_told(self, pressed: asyncio.Queue[None]) -> None:
        """Return when there is nothing more to wait for."""
        await pressed.get()
        self.answer.interrupted = True
        await self.client.cancel(self.vault_id, self.request.turn_id)
        try:
            async with asyncio.timeout(self.cancel_s):
                await pressed.get()
        except TimeoutError:
            return
