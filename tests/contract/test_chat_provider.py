"""What every chat adapter does with a provider that answers: real HTTP on loopback, in each provider's format."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from services.chat.provider import Delta, Usage
from services.chat.providers.settings import ChatProviderSettings
from shared.errors import Unavailable
from shared.tokens import estimate_tokens
from tests.contract.chat_providers import ADAPTERS, CONTEXT, MESSAGES, ChatSetting, chat_setting, finish_of, text_of
from tests.fakes.provider_servers.answers import Answer


@pytest.fixture(params=ADAPTERS)
async def setting(request: pytest.FixtureRequest) -> AsyncIterator[ChatSetting]:
    async with chat_setting(request.param) as opened:
        yield opened


async def test_an_answer_is_streamed_whole_and_finished_once(setting: ChatSetting):
    events = await setting.ask()

    finish = finish_of(events)
    assert text_of(events) == Answer().text
    assert len(events) == 4, "each piece but the empty one is a delta of its own"
    assert (finish.reason, finish.model) == ("stop", "m-2025")
    assert (finish.usage.input_tokens, finish.usage.output_tokens, finish.usage.counted) == (11, 7, False)


@pytest.mark.parametrize("chunk_bytes", [1, 3, 100_000])
async def test_characters_that_are_cut_on_the_wire_arrive_whole(setting: ChatSetting, chunk_bytes: int):
    setting.server.will(Answer(chunk_bytes=chunk_bytes))

    assert text_of(await setting.ask()) == Answer().text


async def test_words_arrive_before_the_answer_is_whole(setting: ChatSetting):
    setting.server.will(Answer(pieces=("first",), then="hold"))
    chat = setting.provider().chat(MESSAGES, CONTEXT)

    assert await anext(chat) == Delta("first")
    await chat.aclose()


async def test_a_late_first_byte_is_waited_for(setting: ChatSetting):
    begin = asyncio.Event()
    setting.server.will(Answer(begin=begin))
    asking = asyncio.ensure_future(setting.ask())

    await setting.server.arrived.wait()
    assert not asking.done()
    begin.set()
    assert text_of(await asking) == Answer().text


async def test_an_answer_that_reached_its_limit_says_so(setting: ChatSetting):
    setting.server.will(Answer(end="length"))

    assert finish_of(await setting.ask()).reason == "length"


async def test_a_refused_answer_is_filtered(setting: ChatSetting):
    if not setting.adapter.tells_a_filter:
        pytest.skip("Ollama has no such reason")
    setting.server.will(Answer(pieces=(), end="filtered"))

    events = await setting.ask()

    assert finish_of(events).reason == "filtered"
    assert text_of(events) == ""


async def test_a_call_of_a_tool_that_was_not_offered_is_an_error(setting: ChatSetting):
    setting.server.will(Answer(pieces=("Let me see.",), end="tool"))

    text, error = await setting.ask_until_error()

    assert text == "Let me see."
    assert isinstance(error, Unavailable)
    assert "tool" in str(error)


async def test_usage_that_is_not_told_is_counted_and_marked(setting: ChatSetting):
    if not setting.adapter.usage_may_lack:
        pytest.skip("the agent's child tells its usage always")
    setting.server.will(Answer(usage=None))

    usage = finish_of(await setting.ask()).usage

    asked = sum(estimate_tokens(message.content) for message in MESSAGES)
    assert usage.counted
    assert asked < usage.input_tokens < asked + 10 * len(MESSAGES)
    assert usage == Usage(usage.input_tokens, estimate_tokens(Answer().text), counted=True)


async def test_an_endless_answer_is_cut_at_the_limit_and_its_request_closed(setting: ChatSetting):
    setting.server.will(Answer(pieces=("0123456789" * 1_000,) * 1_000, chunk_bytes=60_000))  # 10 MB
    provider = setting.provider(max_answer_tokens=2_000)

    events = await setting.ask(provider)

    finish = finish_of(events)
    assert text_of(events) == "0123456789" * 3_200, "16 characters for each token"
    assert finish.reason == "length"
    assert finish.usage.counted
    assert finish.usage.output_tokens == 8_000
    async with asyncio.timeout(1):
        await setting.server.disconnected.wait()


async def test_answers_at_once_are_not_mixed(setting: ChatSetting):
    provider = setting.provider(agent_concurrency=2)
    wanted = [f"answer {number}" for number in range(2 if setting.adapter.start_s else 16)]
    setting.server.will(*[Answer(pieces=(*text,)) for text in wanted])

    answers = await asyncio.gather(*[setting.ask(provider) for _ in wanted])

    assert sorted(text_of(events) for events in answers) == sorted(wanted)


async def test_the_key_and_the_model_reach_the_provider_and_nothing_of_the_environment(
    setting: ChatSetting, monkeypatch: pytest.MonkeyPatch
):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "sk-of-the-environment")
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    await setting.ask()

    seen = setting.server.requests[0]
    assert seen.body["model"] == "m"
    assert sum("sk-very-secret-4711" in value for value in seen.headers.values()) == 1
    assert not any("sk-of-the-environment" in value for value in seen.headers.values())


async def test_the_provider_is_named_as_the_settings_name_it(setting: ChatSetting):
    provider = setting.provider()

    assert (provider.name, provider.model) == (setting.adapter.provider, "m")
    assert provider.name in ChatProviderSettings.model_json_schema()["properties"]["provider"]["enum"]
