"""The Messages API of Anthropic; the SDK is `anthropic`.

The system message is a parameter of its own; what the events say is in `anthropic_events.py`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import anthropic
import httpx2
from anthropic import AsyncAnthropic

from services.chat.provider import ChatMessage
from services.chat.providers.anthropic_events import AnthropicEvent, read_event
from services.chat.providers.httpx2_client import bounded_client, timeouts
from services.chat.providers.refusals import garbled, refused, refused_amid, unreachable
from services.chat.providers.spec import ProviderSpec
from services.chat.providers.wire import Piece, read_as


class AnthropicWire:
    """Asks one server; closes the client that it was given."""

    def __init__(self, client: AsyncAnthropic, spec: ProviderSpec) -> None:
        self._client, self._spec = client, spec

    @classmethod
    def connected(cls, spec: ProviderSpec) -> AnthropicWire:
        """Return a wire with a client of its own, which does not retry."""
        client = AsyncAnthropic(
            api_key=spec.key,
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
        """Yield what the events say; see the port."""
        self._spec.check()
        try:
            async with await self._client.messages.create(**self._request(messages)) as events:
                async for event in events:
                    yield read_event(read_as(AnthropicEvent, event, self._spec), self._spec)
        except anthropic.APIStatusError as error:
            raise self._refusal(error) from None
        except (anthropic.APIConnectionError, httpx2.HTTPError) as error:  # the SDK lets errors amid the stream through
            raise unreachable(self._spec) from error
        except (anthropic.AnthropicError, ValueError) as error:  # and those of JSON and UTF-8
            raise garbled(self._spec) from error

    async def aclose(self) -> None:
        """Release connections."""
        await self._client.close()

    def _refusal(self, error: anthropic.APIStatusError) -> Exception:
        words = json.dumps(error.body, default=str)
        if error.status_code == 200:  # an `error` event
            return refused_amid(self._spec, error.type or "", words)
        return refused(self._spec, error.status_code, words, error.response.headers)

    def _request(self, messages: Sequence[ChatMessage]) -> dict[str, Any]:
        limits = self._spec.limits
        system = "\n\n".join(message.content for message in messages if message.role == "system")
        request: dict[str, Any] = {
            "model": self._spec.model,
            "max_tokens": limits.max_answer_tokens,
            "stream": True,
            "messages": [
                {"role": message.role, "content": message.content}
                for message in messages
                if message.role != "system" and message.content.strip()  # blank ones are refused
            ],
        }
        if system:
            request["system"] = system
        if limits.temperature is not None:
            # The SDK has no parameter for it, as new models refuse it; others take it up to 1.
            request["extra_body"] = {"temperature": min(limits.temperature, 1.0)}
        return request
