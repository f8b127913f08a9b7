"""Chat completions as OpenAI defined them, and as GLM, vLLM, llama.cpp and others speak them; the SDK is `openai`.

Quirks live here. A server that refuses `stream_options`, `temperature` or the name of the answer's limit is asked again
without, at most once for each, and this is remembered. Reasoning (`reasoning_content`) is a sign of life, not text. A
stream that has neither a finish reason nor usage was cut off.

Source: platform.openai.com/docs/api-reference/chat-streaming; docs.z.ai (GLM: `sensitive`, `network_error`).
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Any

import openai
from openai import AsyncOpenAI, AsyncStream
from pydantic import BaseModel

from services.chat.provider import ChatMessage
from services.chat.providers.httpx2_client import bounded_client, timeouts
from services.chat.providers.refusals import called_a_tool, garbled, refused, refused_amid, unreachable
from services.chat.providers.spec import OPENAI_URL, ProviderSpec
from services.chat.providers.wire import FinishReason, Piece, read_as
from shared.errors import Unavailable

_REASONS: dict[str, FinishReason] = {
    "length": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "filtered",
    "sensitive": "filtered",
}
"""Anything else that ends an answer is `stop`."""

_TOOLS = frozenset({"tool_calls", "function_call"})
_FAILURES = frozenset({"error", "network_error", "insufficient_system_resource"})
"""GLM and DeepSeek end a stream so when they fail."""

_NO_KEY = "none"
"""Local servers want no key, but the SDK does."""


class _Delta(BaseModel):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[object] | None = None


class _Choice(BaseModel):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Chunk(BaseModel):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    model: str | None = None


@dataclass(slots=True)
class _Dialect:
    """What a server understands, as far as is known."""

    limit_name: str
    unknown: set[str] = field(default_factory=set[str])

    def learn(self, words: str) -> bool:
        """Take note of a refusal's words; False when they are about something else."""
        if "max_completion_tokens" in words and "max_tokens" in words and "limit_name" not in self.unknown:
            self.unknown.add("limit_name")
            self.limit_name = "max_tokens" if self.limit_name == "max_completion_tokens" else "max_completion_tokens"
            return True
        told = {name for name in ("stream_options", "temperature") if name in words} - self.unknown
        self.unknown |= told
        return bool(told)


class OpenAICompatibleWire:
    """Asks one server; closes the client that it was given."""

    def __init__(self, client: AsyncOpenAI, spec: ProviderSpec) -> None:
        self._client, self._spec = client, spec
        self._dialect = _Dialect("max_completion_tokens" if spec.base_url == OPENAI_URL else "max_tokens")

    @classmethod
    def connected(cls, spec: ProviderSpec) -> OpenAICompatibleWire:
        """Return a wire with a client of its own, which does not retry."""
        client = AsyncOpenAI(
            api_key=spec.key or _NO_KEY,
            base_url=spec.base_url,
            timeout=timeouts(spec.limits),
            max_retries=0,
            http_client=bounded_client(spec.limits),
        )
        return cls(client, spec)

    @property
    def spec(self) -> ProviderSpec:
        """Who is asked."""
        return self._spec

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[Piece]:
        """Yield what the chunks say; see the port."""
        self._spec.check()
        is_ended = False
        try:
            async with await self._open(messages) as chunks:
                async for chunk in chunks:
                    piece = self._piece(read_as(_Chunk, chunk, self._spec), is_ended)
                    is_ended = is_ended or piece.reason is not None
                    yield piece
        except openai.APIStatusError as error:
            raise refused(self._spec, error.status_code, _words(error), error.response.headers) from None
        except openai.APIConnectionError as error:
            raise unreachable(self._spec) from error
        except openai.APIError as error:
            raise refused_amid(self._spec, f"{error.code or error.type or ''}", _words(error)) from None
        except (openai.OpenAIError, ValueError) as error:  # the SDK lets errors of JSON and UTF-8 through
            raise garbled(self._spec) from error

    async def aclose(self) -> None:
        """Release connections."""
        await self._client.close()

    async def _open(self, messages: Sequence[ChatMessage]) -> AsyncStream[Any]:
        while True:
            try:
                return await self._client.chat.completions.create(**self._request(messages))
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if not self._dialect.learn(_words(error)):
                    raise

    def _request(self, messages: Sequence[ChatMessage]) -> dict[str, Any]:
        limits, unknown = self._spec.limits, self._dialect.unknown
        request: dict[str, Any] = {
            "model": self._spec.model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "stream": True,
            self._dialect.limit_name: limits.max_answer_tokens,
        }
        if "stream_options" not in unknown:
            request["stream_options"] = {"include_usage": True}
        if limits.temperature is not None and "temperature" not in unknown:
            request["temperature"] = limits.temperature
        return request

    def _piece(self, chunk: _Chunk, is_ended: bool) -> Piece:
        choice = chunk.choices[0] if chunk.choices else _Choice()
        delta, usage = choice.delta or _Delta(), chunk.usage or _Usage()
        reason = _REASONS.get(choice.finish_reason, "stop") if choice.finish_reason else None
        if choice.finish_reason in _TOOLS or delta.tool_calls:
            raise called_a_tool(self._spec)
        if choice.finish_reason in _FAILURES:
            raise Unavailable(f"{self._spec.label} failed amid the answer: try again")
        if chunk.usage and not (chunk.choices or is_ended):
            reason = "stop"  # usage comes last; some servers name no reason before it
        return Piece(
            text=delta.content or "",
            reason="filtered" if delta.refusal else reason,
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
            model=chunk.model,
        )


def _words(error: openai.APIError) -> str:
    return json.dumps(error.body, default=str) if error.body is not None else error.message
