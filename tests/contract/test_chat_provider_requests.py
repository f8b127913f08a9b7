"""What each chat adapter asks of its provider, and how it copes with servers that understand less."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import anthropic
import ollama
import openai
import pytest
from pydantic import SecretStr

from services.chat.providers.anthropic import AnthropicWire
from services.chat.providers.ollama import OllamaWire
from services.chat.providers.openai_compatible import OpenAICompatibleWire
from services.chat.providers.spec import ProviderSpec
from services.chat.providers.streamed import StreamedProvider
from services.chat.providers.wire import Wire
from shared.errors import InvalidInput, Unavailable
from tests.contract.chat_providers import ADAPTERS, KEY, ChatSetting, chat_setting, finish_of, text_of
from tests.fakes.provider_servers.answers import Answer, Page

Settings = AsyncIterator[ChatSetting]


@pytest.fixture
async def gpt() -> Settings:
    async with chat_setting("openai") as setting:
        yield setting


@pytest.fixture
async def claude() -> Settings:
    async with chat_setting("anthropic") as setting:
        yield setting


@pytest.fixture
async def llama() -> Settings:
    async with chat_setting("ollama") as setting:
        yield setting


async def test_openai_gets_all_messages_and_is_asked_for_usage(gpt: ChatSetting):
    await gpt.ask(gpt.provider(temperature=0.5, max_answer_tokens=99))

    body = gpt.server.requests[0].body
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "user"]
    assert body["stream_options"] == {"include_usage": True}
    assert (body["max_tokens"], body["temperature"], body["stream"]) == (99, 0.5, True)
    assert "tools" not in body


async def test_a_server_that_refuses_an_option_is_asked_without_it_and_that_is_remembered(gpt: ChatSetting):
    refused = [
        "Unrecognized request argument supplied: stream_options",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "Unsupported value: 'temperature' does not support 0.5 with this model.",
    ]
    gpt.server.will(*[Page(400, gpt.server.format.refusal("invalid_request_error", words)) for words in refused])
    gpt.server.will(Answer(usage=None), Answer(usage=None))
    provider = gpt.provider(temperature=0.5)

    assert text_of(await gpt.ask(provider)) == Answer().text
    assert finish_of(await gpt.ask(provider)).usage.counted

    assert len(gpt.server.requests) == 5
    body = gpt.server.requests[-1].body
    assert "max_completion_tokens" in body
    assert body.keys() & {"stream_options", "temperature", "max_tokens"} == set()


async def test_a_server_that_refuses_everything_is_not_asked_for_ever(gpt: ChatSetting):
    words = "stream_options, temperature, max_tokens, max_completion_tokens: no"
    gpt.server.will(*[Page(400, gpt.server.format.refusal("invalid_request_error", words))] * 9)

    _, error = await gpt.ask_until_error(gpt.provider(temperature=0.5))

    assert isinstance(error, InvalidInput)
    assert len(gpt.server.requests) == 3


@pytest.mark.parametrize(
    ("reason", "finish"), [("sensitive", "filtered"), ("model_context_window_exceeded", "length"), ("eos", "stop")]
)
async def test_reasons_of_compatible_servers_are_understood(gpt: ChatSetting, reason: str, finish: str):
    gpt.server.will(sse(ending(reason)))

    assert finish_of(await gpt.ask()).reason == finish


async def test_a_provider_that_ends_with_a_failure_is_unavailable(gpt: ChatSetting):
    gpt.server.will(sse(ending("network_error")))

    text, error = await gpt.ask_until_error()

    assert (text, type(error)) == ("", Unavailable)


async def test_reasoning_is_not_text_and_usage_without_a_reason_ends_an_answer(gpt: ChatSetting):
    gpt.server.will(
        sse(
            '{"choices": [{"delta": {"reasoning_content": "hm"}}]}',
            '{"choices": [{"delta": {"content": "yes"}}]}',
            '{"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}',
        )
    )

    events = await gpt.ask()

    assert text_of(events) == "yes"
    assert (finish_of(events).reason, finish_of(events).usage.input_tokens) == ("stop", 3)


async def test_a_refusal_in_words_of_its_own_field_is_filtered_and_not_text(gpt: ChatSetting):
    gpt.server.will(
        sse(
            '{"choices": [{"delta": {"refusal": "I cannot"}}]}',
            '{"choices": [{"delta": {}, "finish_reason": "stop"}]}',
        )
    )

    events = await gpt.ask()

    assert (text_of(events), finish_of(events).reason) == ("", "filtered")


async def test_an_answer_that_is_whole_does_not_wait_for_a_server_that_holds_on(gpt: ChatSetting):
    whole = sse(ending("stop"))
    gpt.server.will(Page(200, whole.body, {"Content-Type": "text/event-stream", "Content-Length": "100000"}))

    assert finish_of(await gpt.ask()).reason == "stop"


async def test_anthropic_gets_the_system_message_apart(claude: ChatSetting):
    await claude.ask(claude.provider(temperature=1.5))

    body = claude.server.requests[0].body
    assert body["system"] == "Answer from the passages."
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    assert (body["max_tokens"], body["temperature"], body["stream"]) == (2_048, 1.0, True)
    assert "tools" not in body


async def test_tokens_of_anthropics_cache_are_read_tokens(claude: ChatSetting):
    usage = {"input_tokens": 1, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300}
    start = {"type": "message_start", "message": {"usage": usage}}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}}
    body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in (start, end))
    claude.server.will(Page(200, body.encode(), {"Content-Type": "text/event-stream"}))

    told = finish_of(await claude.ask()).usage

    assert (told.input_tokens, told.output_tokens) == (321, 4)


async def test_anthropic_that_is_overloaded_amid_the_answer_is_unavailable(claude: ChatSetting):
    claude.server.will(Answer(pieces=("a",), error=("overloaded_error", "Overloaded")))

    text, error = await claude.ask_until_error()

    assert (text, type(error)) == ("a", Unavailable)


async def test_ollama_is_told_the_window_and_asked_for_no_tools(llama: ChatSetting):
    await llama.ask(llama.provider(context_window=16_384, max_answer_tokens=99, temperature=0))

    body = llama.server.requests[0].body
    assert body["options"] == {"num_ctx": 16_384, "num_predict": 99, "temperature": 0}
    assert not body.get("tools")
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "user"]


async def test_ollama_without_a_key_sends_none(llama: ChatSetting, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OLLAMA_API_KEY", raising=False)

    await llama.ask(llama.provider(key=""))

    assert "authorization" not in llama.server.requests[0].headers


async def test_a_prompt_that_ollama_has_in_its_cache_is_counted(llama: ChatSetting):
    llama.server.will(Page(200, b'{"message": {"role": "assistant", "content": "x"}, "done": true, "eval_count": 3}\n'))

    assert finish_of(await llama.ask()).usage.counted


@pytest.mark.parametrize("name", ["anthropic", "agent"])
async def test_without_a_key_nothing_is_sent(name: str):
    async with chat_setting(name) as setting:
        _, error = await setting.ask_until_error(setting.provider(key=""))

        assert isinstance(error, InvalidInput)
        assert "ANTHROPIC_API_KEY" in str(error)
        assert setting.server.requests == []


@pytest.mark.parametrize("name", [name for name in ADAPTERS if name != "agent"])
async def test_a_client_can_be_injected(name: str):
    async with chat_setting(name) as setting:
        spec = ProviderSpec(setting.adapter.provider, "m", setting.server.origin, SecretStr(KEY))
        wires: dict[str, Wire] = {
            "openai": OpenAICompatibleWire(openai.AsyncOpenAI(api_key="k", base_url=spec.base_url + "/v1"), spec),
            "anthropic": AnthropicWire(anthropic.AsyncAnthropic(api_key="k", base_url=spec.base_url), spec),
            "ollama": OllamaWire(ollama.AsyncClient(spec.base_url), spec),
        }

        assert text_of(await setting.ask(StreamedProvider(wires[name]))) == Answer().text
        for wire in wires.values():
            await wire.aclose()


def sse(*events: str) -> Page:
    body = "".join(f"data: {event}\n\n" for event in events)
    return Page(200, body.encode(), {"Content-Type": "text/event-stream"})


def ending(reason: str) -> str:
    return json.dumps({"choices": [{"delta": {"content": "x"}, "finish_reason": reason}]})
