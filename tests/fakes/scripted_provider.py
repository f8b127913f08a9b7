"""A chat provider that follows a script, and shows what it was asked and whether it was closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from services.chat.provider import ChatMessage, ChatProvider, Delta, Finished, ProviderEvent, Usage
from shared.contracts.search import SearchReply
from shared.errors import CitebusError, InvalidInput

Step = str | CitebusError | asyncio.Event | Literal[0]
"""Text to write, an error to raise, an event to wait for; 0: be silent for ever."""

SILENCE: Literal[0] = 0


@dataclass
class ScriptedProvider:
    """Plays the same script for every call."""

    script: Sequence[Step] | Callable[[], Sequence[Step]]
    reason: Literal["stop", "length", "filtered"] = "stop"
    finishes: bool = True
    calls: list[tuple[ChatMessage, ...]] = field(default_factory=list[tuple[ChatMessage, ...]])
    contexts: list[SearchReply] = field(default_factory=list[SearchReply])
    started: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    name = "scripted"
    model = "script-1"

    async def chat(self, messages: Sequence[ChatMessage], context: SearchReply) -> AsyncGenerator[ProviderEvent]:
        """Play the script."""
        self.calls.append(tuple(messages))
        self.contexts.append(context)
        self.started.set()
        try:
            for step in self.script() if callable(self.script) else self.script:
                if isinstance(step, str):
                    yield Delta(step)
                elif isinstance(step, CitebusError):
                    raise step
                elif isinstance(step, asyncio.Event):
                    await step.wait()
                else:
                    await asyncio.Event().wait()
            if self.finishes:
                yield Finished(self.reason, Usage(100, 20), "script-1-2025")
        finally:
            self.closed.set()

    async def aclose(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True)
class OneProvider:
    """The configuration of one provider, for every operation."""

    provider: ChatProvider

    def choose(self, operation: str, name: str | None) -> ChatProvider:
        """Return it, under its own name or none."""
        if name not in {None, self.provider.name}:
            raise InvalidInput(f"There is no provider '{name}' for {operation}.")
        return self.provider
