"""The wire formats: an answer's events as bytes, and how each provider words an error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Protocol

from tests.fakes.provider_servers.answers import Answer, End

FormatName = Literal["openai", "anthropic", "ollama"]


class Format(Protocol):
    path: str
    content_type: str

    def pieces(self, answer: Answer) -> Iterator[bytes]:
        """Events up to the last piece of text."""
        ...

    def ending(self, answer: Answer) -> Iterator[bytes]:
        """Events after it."""
        ...

    def failure(self, kind: str, words: str) -> bytes:
        """An error as an event of the stream."""
        ...

    def refusal(self, kind: str, words: str) -> bytes:
        """An error as a body."""
        ...


class OpenAIFormat:
    path = "/v1/chat/completions"
    content_type = "text/event-stream; charset=utf-8"
    reasons: ClassVar[dict[End, str]] = {
        "stop": "stop",
        "length": "length",
        "filtered": "content_filter",
        "tool": "tool_calls",
    }

    def pieces(self, answer: Answer) -> Iterator[bytes]:
        yield b": keep-alive\n\n"
        yield self._choice(answer, {"role": "assistant", "content": ""})
        for piece in answer.pieces:
            yield self._choice(answer, {"content": piece})

    def ending(self, answer: Answer) -> Iterator[bytes]:
        if answer.end == "tool":
            call = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
            yield self._choice(answer, {"tool_calls": [call]})
        yield self._choice(answer, {}, self.reasons[answer.end])
        if answer.usage:
            read, written = answer.usage
            usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
            yield self._chunk(answer, [], usage)
        yield b"data: [DONE]\n\n"

    def failure(self, kind: str, words: str) -> bytes:
        return b"data: " + self.refusal(kind, words) + b"\n\n"

    def refusal(self, kind: str, words: str) -> bytes:
        return json.dumps({"error": {"message": words, "type": kind, "code": kind, "param": None}}).encode()

    def _choice(self, answer: Answer, delta: dict[str, Any], reason: str | None = None) -> bytes:
        return self._chunk(answer, [{"index": 0, "delta": delta, "finish_reason": reason}], None)

    def _chunk(self, answer: Answer, choices: list[dict[str, Any]], usage: dict[str, int] | None) -> bytes:
        chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": answer.model}
        return _event({**chunk, "choices": choices, "usage": usage})


class AnthropicFormat:
    path = "/v1/messages"
    content_type = "text/event-stream; charset=utf-8"
    reasons: ClassVar[dict[End, str]] = {
        "stop": "end_turn",
        "length": "max_tokens",
        "filtered": "refusal",
        "tool": "tool_use",
    }

    def pieces(self, answer: Answer) -> Iterator[bytes]:
        message: dict[str, Any] = {"id": "m1", "type": "message", "role": "assistant", "content": []}
        message |= {"model": answer.model, "stop_reason": None, "stop_sequence": None}
        if answer.usage:
            message["usage"] = {"input_tokens": answer.usage[0], "output_tokens": 1}
        yield _event({"type": "message_start", "message": message}, named=True)
        block = {"type": "text", "text": ""}
        yield _event({"type": "content_block_start", "index": 0, "content_block": block}, named=True)
        yield _event({"type": "ping"}, named=True)
        for piece in answer.pieces:
            delta = {"type": "text_delta", "text": piece}
            yield _event({"type": "content_block_delta", "index": 0, "delta": delta}, named=True)

    def ending(self, answer: Answer) -> Iterator[bytes]:
        yield _event({"type": "content_block_stop", "index": 0}, named=True)
        if answer.end == "tool":
            block = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
            yield _event({"type": "content_block_start", "index": 1, "content_block": block}, named=True)
            yield _event({"type": "content_block_stop", "index": 1}, named=True)
        last: dict[str, Any] = {"type": "message_delta", "delta": {"stop_reason": self.reasons[answer.end]}}
        if answer.usage:
            last["usage"] = {"output_tokens": answer.usage[1]}
        yield _event(last, named=True)
        yield _event({"type": "message_stop"}, named=True)

    def failure(self, kind: str, words: str) -> bytes:
        return b"event: error\ndata: " + self.refusal(kind, words) + b"\n\n"

    def refusal(self, kind: str, words: str) -> bytes:
        return json.dumps({"type": "error", "error": {"type": kind, "message": words}}).encode()


class OllamaFormat:
    path = "/api/chat"
    content_type = "application/x-ndjson"

    def pieces(self, answer: Answer) -> Iterator[bytes]:
        for piece in answer.pieces:
            yield self._part(answer, {"content": piece})

    def ending(self, answer: Answer) -> Iterator[bytes]:
        if answer.end == "tool":
            call = {"function": {"name": "f", "arguments": {}}}
            yield self._part(answer, {"content": "", "tool_calls": [call]})
        last: dict[str, Any] = {"done": True, "done_reason": "length" if answer.end == "length" else "stop"}
        if answer.usage:
            last |= {"prompt_eval_count": answer.usage[0], "eval_count": answer.usage[1]}
        yield self._part(answer, {"content": ""}, last)

    def failure(self, kind: str, words: str) -> bytes:
        return self.refusal(kind, words) + b"\n"

    def refusal(self, kind: str, words: str) -> bytes:
        return json.dumps({"error": words}).encode()

    def _part(self, answer: Answer, message: dict[str, Any], more: dict[str, Any] | None = None) -> bytes:
        part = {"model": answer.model, "created_at": "2025-03-01T12:00:00Z", "done": False}
        part |= {"message": {"role": "assistant", **message}, **(more or {})}
        return json.dumps(part, ensure_ascii=False).encode() + b"\n"


FORMATS: dict[FormatName, Format] = {
    "openai": OpenAIFormat(),
    "anthropic": AnthropicFormat(),
    "ollama": OllamaFormat(),
}


def _event(data: dict[str, Any], named: bool = False) -> bytes:
    name = f"event: {data['type']}\n" if named else ""
    return f"{name}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
