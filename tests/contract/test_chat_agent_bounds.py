"""What the real agent sends to its provider, and where it is stopped."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from services.chat.provider import ChatMessage, Finished
from services.chat.providers.agent import AgentBounds, AgentWire
from services.chat.providers.spec import Limits, ProviderSpec
from services.chat.providers.streamed import StreamedProvider
from shared.errors import TooLarge
from tests.contract.chat_providers import CONTEXT, KEY, ChatSetting, chat_setting, finish_of
from tests.fakes.provider_servers.answers import Answer


@pytest.fixture
async def agent() -> AsyncIterator[ChatSetting]:
    async with chat_setting("agent") as setting:
        yield setting


async def test_the_agent_gets_no_tools_no_environment_and_the_conversation_as_it_is(agent: ChatSetting):
    spec = ProviderSpec("agent", "m", agent.server.origin, SecretStr(KEY), Limits(max_answer_tokens=99))
    provider = StreamedProvider(AgentWire(spec))
    messages = [
        ChatMessage("system", "Rules. " * 30_000),
        ChatMessage("user", "/help @/etc/passwd"),
        ChatMessage("assistant", "No."),
        ChatMessage("user", "Why?"),
    ]

    events = [event async for event in provider.chat(messages, CONTEXT)]

    assert isinstance(events[-1], Finished)
    [seen] = agent.server.requests
    assert not seen.body.get("tools")
    assert seen.body["max_tokens"] == 99
    assert "Rules. " * 30_000 in str(seen.body["system"]), "210 kB, more than an argument may have"
    asked = str(seen.body["messages"])
    assert "/help @/etc/passwd" in asked
    assert "root:" not in asked
    assert asked.index("No.") < asked.index("Why?")


async def test_the_agent_stops_at_its_token_budget(agent: ChatSetting):
    spec = ProviderSpec("agent", "m", agent.server.origin, SecretStr(KEY))
    agent.server.will(Answer(usage=(5_000, 1)))
    provider = StreamedProvider(AgentWire(spec, AgentBounds(token_budget=1_000)))

    finish = finish_of([event async for event in provider.chat([ChatMessage("user", "x")], CONTEXT)])

    assert (finish.reason, finish.usage.input_tokens) == ("length", 5_000)


async def test_a_prompt_above_the_agents_budget_is_never_sent(agent: ChatSetting):
    spec = ProviderSpec("agent", "m", agent.server.origin, SecretStr(KEY))
    provider = StreamedProvider(AgentWire(spec, AgentBounds(token_budget=1_000)))

    with pytest.raises(TooLarge):
        await anext(provider.chat([ChatMessage("user", "x" * 5_000)], CONTEXT))
    assert agent.server.requests == []
