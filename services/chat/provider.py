"""The port of chat providers: a model, or something that answers like one.

A provider turns messages into text as it is written. It knows nothing of citations: the numbers `[n]` in its text are
checked by the caller against the context that was given.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol

from shared.contracts.search import SearchReply


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of the prompt. `system` comes first and once."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of the answer, never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call took."""

    input_tokens: int
    output_tokens: int
    counted: bool = False
    """Estimated here, because the provider did not say."""
    cost: Decimal | None = None
    """In US dollars when the provider reports it itself; None: the price table decides."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event of a stream, exactly once."""

    reason: Literal["stop", "length", "filtered", "refused"]
    """refused: what it wrote says that the passages do not answer, and cites nothing."""
    usage: Usage
    model: str
    """As the provider names what answered."""


ProviderEvent = Delta | Finished


class ChatProvider(Protocol):
    """Answers messages. Safe to call concurrently; limits (answer tokens, time) are given when it is built."""

    @property
    def name(self) -> str:
        """Which adapter: openai, anthropic, ollama, agent, extractive."""
        ...

    @property
    def model(self) -> str:
        """The model asked for."""
        ...

    def chat(self, messages: Sequence[ChatMessage], context: SearchReply) -> AsyncGenerator[ProviderEvent]:
        """Yield the answer's deltas, then Finished.

        Closing the generator closes the request to the provider at once. Raises, before or amid deltas: Unavailable or
        RateLimited (try later, with the provider's delay), InvalidInput (refused as asked: key, model, size),
        DeadlineExceeded. The text of a driver's error never leaves, keys never show.
        """
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...
