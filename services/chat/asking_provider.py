"""Listens to a provider: its deltas go to the writer until it ends, falls silent, or nothing more is wanted.

Whatever happens, the provider's generator is closed before this returns, and with it the request to the provider.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from services.chat.ports import Clock
from services.chat.provider import ChatMessage, ChatProvider, Delta, Finished, ProviderEvent, Usage
from services.chat.writing import AnswerWriter
from shared.cancelling import end_if_cancelled
from shared.contracts.chat import FinishReason
from shared.contracts.search import SearchReply
from shared.errors import DeadlineExceeded, Unavailable
from shared.tokens import estimate_tokens


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a provider may be silent, in seconds."""

    first_token_s: float = 90.0
    idle_s: float = 45.0
    """Between two deltas."""


@dataclass(slots=True)
class ProviderCall:
    """One call to a provider, and what is known of it so far, also when it breaks off."""

    provider: ChatProvider
    messages: Sequence[ChatMessage]
    started: float
    first_token_s: float | None = None
    ended_s: float | None = None
    finished: Finished | None = None
    written: list[str] = field(default_factory=list[str])

    @property
    def usage(self) -> Usage:
        """What the provider reported, else an estimate, marked so."""
        if self.finished is not None:
            return self.finished.usage
        asked = sum(estimate_tokens(message.content) for message in self.messages)
        return Usage(asked, estimate_tokens("".join(self.written)), counted=True)

    @property
    def model(self) -> str:
        """What answered, or was asked to."""
        return self.finished.model if self.finished is not None else self.provider.model

    async def listen(
        self, context: SearchReply, writer: AnswerWriter, patience: Patience, clock: Clock
    ) -> FinishReason:
        """Write the answer and return why it ended.

        Raises what the provider raises, DeadlineExceeded when it is silent for too long, Unavailable when it ends
        without an answer.
        """
        try:
            async with aclosing(self.provider.chat(self.messages, context)) as events:
                return await self._listen(events, writer, patience, clock)
        finally:
            self.ended_s = clock() - self.started

    async def _listen(
        self, events: AsyncGenerator[ProviderEvent], writer: AnswerWriter, patience: Patience, clock: Clock
    ) -> FinishReason:
        while True:
            event = await self._next(events, patience)
            end_if_cancelled()
            if isinstance(event, Finished):
                self.finished = event
                break
            if self.first_token_s is None:
                self.first_token_s = clock() - self.started
            self.written.append(event.text)
            if (reason := await writer.write(event.text)) is not None:
                return reason
        await writer.finish()
        if not writer.text.strip() and event.reason == "stop":
            raise Unavailable(f"The provider {self.provider.name} gave an empty answer: ask again.")
        return event.reason

    async def _next(self, events: AsyncGenerator[ProviderEvent], patience: Patience) -> Delta | Finished:
        limit_s = patience.first_token_s if self.first_token_s is None else patience.idle_s
        scope = asyncio.timeout(limit_s)
        try:
            async with scope:
                return await anext(events)
        except TimeoutError as error:
            if not scope.expired():
                raise
            name = self.provider.name
            raise DeadlineExceeded(f"The provider {name} was silent for {limit_s:g} s: ask again.") from error
        except StopAsyncIteration as error:
            raise Unavailable(f"The provider {self.provider.name} ended without saying so: ask again.") from error
