"""The events of Anthropic's Messages API, as the API and the agent send them.

Input tokens come in `message_start` (those read from and written to its cache beside the others), output tokens and the
reason in `message_delta`.

Source: docs.anthropic.com/en/api/messages-streaming.
"""

from __future__ import annotations

from pydantic import BaseModel

from services.chat.providers.refusals import called_a_tool
from services.chat.providers.spec import ProviderSpec
from services.chat.providers.wire import FinishReason, Piece

REASONS: dict[str, FinishReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "filtered",
}
"""Anything else that ends an answer is `stop`."""


class _Usage(BaseModel):
    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None


class _Start(BaseModel):
    model: str | None = None
    usage: _Usage | None = None


class _Delta(BaseModel):
    type: str | None = None
    text: str | None = None
    stop_reason: str | None = None


class AnthropicEvent(BaseModel):
    """An event of the stream, as far as it is read here."""

    type: str
    message: _Start | None = None
    delta: _Delta | None = None
    usage: _Usage | None = None


def read_event(event: AnthropicEvent, spec: ProviderSpec) -> Piece:
    """Return what an event says. The agent's stream has the same events."""
    delta, usage = event.delta or _Delta(), event.usage or _Usage()
    if event.type == "message_start" and event.message is not None:
        usage = event.message.usage or usage
        return Piece(input_tokens=_read(usage), output_tokens=usage.output_tokens, model=event.message.model)
    if event.type == "content_block_delta" and delta.type == "text_delta":
        return Piece(text=delta.text or "")
    if event.type == "message_delta":
        if delta.stop_reason == "tool_use":
            raise called_a_tool(spec)
        reason = REASONS.get(delta.stop_reason, "stop") if delta.stop_reason else None
        return Piece(reason=reason, input_tokens=_read(usage), output_tokens=usage.output_tokens)
    return Piece()


def _read(usage: _Usage) -> int | None:
    """Input tokens with those of the cache, which are counted beside them; None when not told."""
    if usage.input_tokens is None:
        return None
    return usage.input_tokens + (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)
