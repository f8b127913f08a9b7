"""A chat provider over one wire format: keeps the limits of time and size, and ends every answer in the same way.

Guarantees, whatever the provider does: no empty delta; exactly one Finished, or an error; never more text than
`Limits.max_answer_chars`; usage as the provider says, else counted. The request is closed before Finished is given.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from services.chat.provider import ChatMessage, Delta, ProviderEvent
from services.chat.providers.refusals import garbled
from services.chat.providers.tally import Tally
from services.chat.providers.wire import Piece, Wire
from shared.contracts.search import SearchReply
from shared.errors import DeadlineExceeded, Unavailable

_AFTER_THE_END_S = 2.0
"""Usage comes right behind the last word; a provider that then keeps the connection open is not waited for."""


class StreamedProvider:
    """Answers through a wire; holds nothing of a call, so calls run side by side."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._limits = wire.spec.limits

    @property
    def name(self) -> str:
        """Which adapter."""
        return self._wire.spec.provider

    @property
    def model(self) -> str:
        """The model asked for."""
        return self._wire.spec.model

    async def chat(self, messages: Sequence[ChatMessage], context: SearchReply) -> AsyncGenerator[ProviderEvent]:
        """Yield deltas, then Finished; see the port. `context` is in the messages already."""
        tally = Tally(messages, self._wire.spec)
        end_at = asyncio.get_running_loop().time() + self._limits.timeout_s
        wait_s = self._limits.first_byte_timeout_s
        async with aclosing(self._wire.stream(messages)) as pieces:
            while piece := await self._next(pieces, tally, wait_s, end_at):
                wait_s = self._limits.idle_timeout_s
                if text := tally.take(piece):
                    yield Delta(text)
                if tally.is_full:
                    break
        if tally.reason is None:
            raise garbled(self._wire.spec)
        yield tally.finished(tally.reason)

    async def aclose(self) -> None:
        """Release connections; calls that run fail."""
        await self._wire.aclose()

    async def _next(self, pieces: AsyncGenerator[Piece], tally: Tally, wait_s: float, end_at: float) -> Piece | None:
        """Return the next piece; None at the end, and when an answer that is whole already breaks off."""
        if tally.reason is None:
            return await self._timely(pieces, wait_s, end_at)
        try:
            return await self._timely(pieces, _AFTER_THE_END_S, end_at)
        except (Unavailable, DeadlineExceeded):
            return None

    async def _timely(self, pieces: AsyncGenerator[Piece], wait_s: float, end_at: float) -> Piece | None:
        wait_until = asyncio.get_running_loop().time() + wait_s
        try:
            async with asyncio.timeout_at(min(wait_until, end_at)):
                return await anext(pieces, None)
        except TimeoutError as error:
            label = self._wire.spec.label
            if end_at <= wait_until:
                raise DeadlineExceeded(f"{label} was not done within {self._limits.timeout_s:g} s") from error
            raise Unavailable(f"{label} said nothing for {wait_s:g} s") from error
