"""A turn ends once, also when the process that answers it is killed, or frozen and awake again."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from services.chat.adapters.nats_turn_stream import NatsTurnStream
from services.chat.record import answer_text
from shared.contracts.chat import ChatAccepted, TurnCitation, TurnDelta, TurnEnd, TurnFailed
from shared.topology import Topology
from tests.chat_system import Asker, Kitchen, Reading, chatting, open_kitchen
from tests.fakes.scripted_provider import ScriptedProvider


@pytest.fixture
async def kitchen(nats_url: str, topology: Topology, database: str) -> AsyncGenerator[Kitchen]:
    """Yield a vault that knows of sauerkraut."""
    async with open_kitchen(nats_url, topology, database) as kitchen:
        yield kitchen


@asynccontextmanager
async def talking(nats_url: str, database: str, topology: Topology) -> AsyncGenerator[Process]:
    """Run a chat service whose provider talks for ever, in a process of its own."""
    arguments = (sys.executable, "-m", "tests.chat_process", nats_url, database, topology.namespace)
    process = await asyncio.create_subprocess_exec(*arguments, stdout=PIPE)
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def asked(kitchen: Kitchen) -> tuple[ChatAccepted, Reading]:
    """Ask, and wait for the first words."""
    asker = Asker(kitchen.client, kitchen.topology, "kitchen")
    accepted, reading = await asker.ask("How much salt does sauerkraut take?")
    await reading.until(TurnCitation)
    return accepted, reading


async def agree(kitchen: Kitchen, accepted: ChatAccepted) -> None:
    """Check that the turn is numbered without a gap, ends once, and is stored as it was streamed."""
    stream = NatsTurnStream(kitchen.client, kitchen.topology, lambda: asyncio.sleep(0))
    events = (await stream.read("kitchen", accepted.turn_id)).events
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [type(event) for event in events if isinstance(event, TurnEnd)] == [TurnFailed]
    message = await kitchen.stored(accepted.message_id)
    assert (message.state, message.last_seq) == ("failed", len(events))
    assert message.text == answer_text(events)
    assert len(message.citations[0].spans) == sum(isinstance(event, TurnCitation) for event in events)


async def test_a_turn_whose_process_was_killed_ends_as_failed_with_what_was_streamed(
    kitchen: Kitchen, nats_url: str, database: str, topology: Topology
) -> None:
    async with talking(nats_url, database, topology) as process:
        accepted, reading = await asked(kitchen)
        process.kill()
        await process.wait()
        async with chatting(kitchen, ScriptedProvider(())), chatting(kitchen, ScriptedProvider(())):  # two that sweep
            end = await reading.end()
            await settled(kitchen)
    assert isinstance(end, TurnFailed)
    assert end.code == "unavailable"
    assert reading.text
    await agree(kitchen, accepted)


async def test_a_process_that_was_frozen_writes_nothing_into_a_turn_that_others_ended(
    kitchen: Kitchen, nats_url: str, database: str, topology: Topology
) -> None:
    async with talking(nats_url, database, topology) as process:
        accepted, reading = await asked(kitchen)
        os.kill(process.pid, signal.SIGSTOP)
        async with chatting(kitchen, ScriptedProvider(())):
            await reading.end()
            told = len(reading.events)
            os.kill(process.pid, signal.SIGCONT)
            await asked_of_talker(kitchen)
            await settled(kitchen)
        assert len(reading.events) == told
    await agree(kitchen, accepted)


async def asked_of_talker(kitchen: Kitchen) -> tuple[ChatAccepted, Reading]:
    """Ask until the process that was frozen takes the question: it is awake."""
    asker = Asker(kitchen.client, kitchen.topology, "kitchen")
    async with asyncio.timeout(30):
        while True:
            accepted, reading = await asker.ask("And for how long does it rest?")
            await reading.until((TurnEnd, TurnDelta))
            if reading.text:  # the provider of the other process says nothing
                return accepted, reading


async def settled(kitchen: Kitchen) -> None:
    """Wait until every ended turn is known to be told."""
    async with asyncio.timeout(20):
        while await kitchen.pool.fetch("SELECT FROM messages WHERE ending IS NOT NULL"):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
