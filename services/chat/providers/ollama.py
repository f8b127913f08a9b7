"""Ollama's own API; the SDK is `ollama`.

Ollama cuts a prompt that is longer than `num_ctx` without a word, so the window that the prompt was made for is sent
along. `prompt_eval_count` is absent when the whole prompt was in its cache; then it is counted.

Source: github.com/ollama/ollama/blob/main/docs/api.md.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, cast

import httpx
import ollama
from pydantic import BaseModel

from services.chat.provider import ChatMessage
from services.chat.providers.byte_bound import BoundedStream, ByteStream
from services.chat.providers.refusals import called_a_tool, garbled, refused, refused_amid, unreachable
from services.chat.providers.spec import ProviderSpec
from services.chat.providers.wire import Piece, read_as


class _Message(BaseModel):
    content: str | None = None
    tool_calls: list[object] | None = None


class _Part(BaseModel):
    model: str | None = None
    message: _Message | None = None
    done: bool | None = None
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None


class OllamaWire:
    """Asks one server; closes the client that it was given."""

    def __init__(self, client: ollama.AsyncClient, spec: ProviderSpec) -> None:
        self._client, self._spec = client, spec

    @classmethod
    def connected(cls, spec: ProviderSpec) -> OllamaWire:
        """Return a wire with a client of its own: no redirects, which would carry the key elsewhere."""
        limits = spec.limits
        client = ollama.AsyncClient(
            spec.base_url,
            headers={"Authorization": f"Bearer {spec.key}"} if spec.key else None,
            timeout=httpx.Timeout(limits.first_byte_timeout_s, connect=limits.connect_timeout_s),
            follow_redirects=False,
            event_hooks={"response": [_bound]},
        )
        return cls(client, spec)

    @property
    def spec(self) -> ProviderSpec:
        """Who is asked."""
        return self._spec

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[Piece]:
        """Yield what the parts say; see the port."""
        try:
            async with aclosing(await self._open(messages)) as parts:
                async for part in parts:
                    yield self._piece(read_as(_Part, part, self._spec))
        except ollama.ResponseError as error:
            raise self._refusal(error) from None
        except (httpx.HTTPError, ConnectionError) as error:
            raise unreachable(self._spec) from error
        except (ValueError, TypeError, AttributeError) as error:  # the SDK reads any JSON as if it were an answer
            raise garbled(self._spec) from error

    async def aclose(self) -> None:
        """Release connections."""
        await self._client.close()

    async def _open(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[Any]:
        limits = self._spec.limits
        options: dict[str, Any] = {"num_predict": limits.max_answer_tokens, "num_ctx": limits.context_window}
        if limits.temperature is not None:
            options["temperature"] = limits.temperature
        asked = [{"role": message.role, "content": message.content} for message in messages]
        parts = await self._client.chat(model=self._spec.model, messages=asked, stream=True, options=options)
        return cast("AsyncGenerator[Any]", parts)  # it is one, and only a generator can be closed

    def _piece(self, part: _Part) -> Piece:
        message = part.message or _Message()
        if message.tool_calls:
            raise called_a_tool(self._spec)
        if not part.done:
            return Piece(text=message.content or "", model=part.model)
        return Piece(
            text=message.content or "",
            reason="length" if part.done_reason == "length" else "stop",
            input_tokens=part.prompt_eval_count,
            output_tokens=part.eval_count,
            model=part.model,
        )

    def _refusal(self, error: ollama.ResponseError) -> Exception:
        if error.status_code < 300:  # an error amid the stream
            return refused_amid(self._spec, "", error.error)
        response = error.__context__  # the SDK keeps the status, but drops the headers
        headers = response.response.headers if isinstance(response, httpx.HTTPStatusError) else None
        return refused(self._spec, error.status_code, error.error, headers)


class _Stream(BoundedStream, httpx.AsyncByteStream):
    error = httpx.ReadError


async def _bound(response: httpx.Response) -> None:
    response.stream = _Stream(cast("ByteStream", response.stream))
