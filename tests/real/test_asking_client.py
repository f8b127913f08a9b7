"""The client's `ask` on real servers: live, across a cut line and a lost stream, and with an error instead."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from uuid import UUID, uuid4

import pytest

from deploy.embedded.client import BusClient
from shared.contracts.chat import AnyTurnEvent, ChatRequest, TurnCancelled, TurnDelta, TurnDone, TurnEnd
from shared.errors import InvalidInput, NotFound
from shared.topology import Topology
from tests.chat_system import Kitchen, chatting, open_kitchen
from tests.fakes.cuttable_line import cuttable_line
from tests.fakes.scripted_provider import SILENCE, ScriptedProvider

FIRST, REST = "Take two percent of the weight in salt [1]. ", "Press it down well [1]."


@pytest.fixture
async def kitchen(nats_url: str, topology: Topology, database: str) -> AsyncGenerator[Kitchen]:
    """Yield a vault that knows of sauerkraut."""
    async with open_kitchen(nats_url, topology, database) as kitchen:
        yield kitchen


def question(**fields: object) -> ChatRequest:
    known = {"question": "How much salt does sauerkraut take?", "turn_id": uuid4(), "deadline_ms": 30_000}
    return ChatRequest.model_validate({**known, **fields})


def text(events: list[AnyTurnEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TurnDelta))


async def test_an_answer_is_read_on_after_the_line_was_cut(kitchen: Kitchen, nats_url: str) -> None:
    more = asyncio.Event()
    async with (
        chatting(kitchen, ScriptedProvider((FIRST, more, REST))),
        cuttable_line(nats_url) as line,
        BusClient(line.url, kitchen.topology) as client,
        aclosing(client.ask("kitchen", question())) as events,
    ):
        heard: list[AnyTurnEvent] = []
        async for event in events:
            heard.append(event)
            if isinstance(event, TurnDelta) and not more.is_set():
                line.cut()
                more.set()
    assert line.connections > 1
    assert text(heard) == FIRST + REST
    assert [event.seq for event in heard] == list(range(1, len(heard) + 1))
    assert isinstance(heard[-1], TurnDone)


async def test_an_answer_ends_though_the_server_lost_its_stream_amid_it(kitchen: Kitchen, nats_url: str) -> None:
    more = asyncio.Event()
    async with (
        chatting(kitchen, ScriptedProvider((FIRST, more, REST))),
        BusClient(nats_url, kitchen.topology) as client,
        aclosing(client.ask("kitchen", question())) as events,
    ):
        heard: list[AnyTurnEvent] = []
        async for event in events:
            heard.append(event)
            if isinstance(event, TurnDelta) and not more.is_set():
                await kitchen.client.jetstream().delete_stream(kitchen.topology.turns)
                more.set()
    assert isinstance(heard[-1], TurnEnd)
    assert heard[-1].characters >= len(text(heard))  # what is stored is whole; the words amid the loss may not be heard


async def test_a_cancel_ends_the_turn_for_the_asker_and_the_provider(kitchen: Kitchen, nats_url: str) -> None:
    provider = ScriptedProvider((FIRST, SILENCE))
    request = question()
    async with chatting(kitchen, provider), BusClient(nats_url, kitchen.topology) as client:
        heard: list[AnyTurnEvent] = []
        async with aclosing(client.ask("kitchen", request)) as events, asyncio.timeout(10):
            async for event in events:
                heard.append(event)
                if isinstance(event, TurnDelta):
                    await client.cancel("kitchen", request.turn_id)
        async with asyncio.timeout(5):
            await provider.closed.wait()
    assert isinstance(heard[-1], TurnCancelled)
    assert heard[-1].reason == "asked"


async def test_what_cannot_be_asked_is_an_error_before_any_event(kitchen: Kitchen, nats_url: str) -> None:
    async with chatting(kitchen, ScriptedProvider((FIRST,))), BusClient(nats_url, kitchen.topology) as client:
        with pytest.raises(NotFound):
            await anext(client.ask("kitchen", question(conversation_id=UUID(int=7))))
        with pytest.raises(InvalidInput):
            await anext(client.ask("kitchen", question(provider="nobody")))
