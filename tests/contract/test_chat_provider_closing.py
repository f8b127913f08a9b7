"""Who closes an answer closes its request: the provider sees it within a second."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from services.chat.provider import Delta
from tests.contract.chat_providers import ADAPTERS, CONTEXT, MESSAGES, ChatSetting, chat_setting
from tests.fakes.provider_servers.answers import Answer, Silence


@pytest.fixture(params=ADAPTERS)
async def setting(request: pytest.FixtureRequest) -> AsyncIterator[ChatSetting]:
    async with chat_setting(request.param) as opened:
        yield opened


async def test_closing_amid_the_answer_closes_the_request(setting: ChatSetting):
    setting.server.will(Answer(pieces=("begun",), then="hold"))
    chat = setting.provider().chat(MESSAGES, CONTEXT)
    assert await anext(chat) == Delta("begun")

    async with asyncio.timeout(1):
        await chat.aclose()
        await setting.server.disconnected.wait()


async def test_closing_in_another_task_closes_the_request(setting: ChatSetting):
    setting.server.will(Answer(pieces=("begun",), then="hold"))
    chat = setting.provider().chat(MESSAGES, CONTEXT)
    assert await asyncio.create_task(anext(chat)) == Delta("begun")  # type: ignore[arg-type]

    async with asyncio.timeout(1):
        await asyncio.create_task(chat.aclose())  # type: ignore[arg-type]
        await setting.server.disconnected.wait()


@pytest.mark.parametrize("move", [Silence(), Answer(pieces=(), then="hold")], ids=["silence", "held"])
async def test_cancelling_before_the_first_word_closes_the_request(setting: ChatSetting, move: Answer | Silence):
    setting.server.will(move)
    asking = asyncio.create_task(setting.ask())
    await setting.server.arrived.wait()

    asking.cancel()

    async with asyncio.timeout(1):
        await setting.server.disconnected.wait()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_closing_before_the_first_word_sends_nothing(setting: ChatSetting):
    chat = setting.provider().chat(MESSAGES, CONTEXT)

    await chat.aclose()

    assert setting.server.requests == []


async def test_the_provider_answers_on_after_an_answer_was_closed(setting: ChatSetting):
    provider = setting.provider()
    setting.server.will(Answer(pieces=("begun",), then="hold"))
    chat = provider.chat(MESSAGES, CONTEXT)
    await anext(chat)
    await chat.aclose()

    assert len(await setting.ask(provider)) == 4


async def test_closing_the_adapter_releases_its_connections(setting: ChatSetting):
    provider = setting.provider()
    await setting.ask(provider)

    await provider.aclose()

    async with asyncio.timeout(2):
        await setting.server.unconnected.wait()
