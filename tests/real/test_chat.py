"""A turn over the bus: numbered events, one end, and what was streamed is what is stored."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from uuid import uuid4

import pytest

from services.chat.adapters.nats_turn_stream import NatsTurnStream
from shared.contracts.chat import (
    ChatAccepted,
    TurnCancelled,
    TurnCitation,
    TurnDelta,
    TurnDone,
    TurnEvent,
    TurnFailed,
    TurnSources,
)
from shared.contracts.error import ErrorReply
from shared.errors import RateLimited
from shared.topology import Topology
from tests.chat_system import Kitchen, Reading, chatting, open_kitchen
from tests.fakes.found_passages import found
from tests.fakes.scripted_provider import SILENCE, ScriptedProvider

ANSWER = ("Take two per", "cent of the weight in salt [", "1", "]", ". Not [7] more.")


@pytest.fixture
async def kitchen(nats_url: str, topology: Topology, database: str) -> AsyncGenerator[Kitchen]:
    """Yield a vault that knows of sauerkraut."""
    async with open_kitchen(nats_url, topology, database) as kitchen:
        yield kitchen


def numbered(reading: Reading) -> bool:
    return [event.seq for event in reading.events] == list(range(1, len(reading.events) + 1))


async def test_an_answer_is_streamed_in_order_and_stored_as_it_was_streamed(kitchen: Kitchen) -> None:
    provider = ScriptedProvider(ANSWER)
    async with chatting(kitchen, provider) as asker:
        accepted, reading = await asker.ask("How much salt does sauerkraut take?")
        done = await reading.end()
    assert isinstance(done, TurnDone)
    assert numbered(reading)
    assert isinstance(reading.events[0], TurnSources)
    assert reading.text == "Take two percent of the weight in salt [1]. Not more."
    (cited,) = [event for event in reading.events if isinstance(event, TurnCitation)]
    assert reading.text[cited.start : cited.end] == "Take two percent of the weight in salt [1]."
    assert reading.text[cited.marker_start : cited.marker_end] == "[1]"
    assert [(page.n, page.title) for page in done.citations] == [(1, "Sauerkraut")]
    assert (done.removed_markers, done.finish_reason, done.characters) == (1, "stop", len(reading.text))
    assert done.usage is not None
    assert done.usage.input_tokens == 100
    message = await kitchen.stored(accepted.message_id)
    assert (message.text, message.state, message.last_seq) == (reading.text, "done", done.seq)
    assert message.citations[0].spans[0].start == cited.start
    assert message.citations[0].passages[0].revision > 0


async def test_an_asker_that_was_away_reads_on_from_the_stream(kitchen: Kitchen) -> None:
    async with chatting(kitchen, ScriptedProvider(ANSWER)) as asker:
        accepted, live = await asker.ask("How much salt does sauerkraut take?")
        await live.end()
        jetstream = asker.client.jetstream()
        subscription = await jetstream.subscribe(accepted.subject, stream=accepted.stream, ordered_consumer=True)
        again = [(await subscription.next_msg(timeout=5)).data for _ in live.events]
    assert again == [event.to_json() for event in live.events]


async def test_a_question_without_passages_is_refused_without_asking_the_provider(kitchen: Kitchen) -> None:
    provider = ScriptedProvider(ANSWER)
    kitchen.found = found()
    async with chatting(kitchen, provider) as asker:
        accepted, reading = await asker.ask("Wie viel Salz braucht das Sauerkraut?")
        done = await reading.end()
        message = await kitchen.stored(accepted.message_id)
    assert isinstance(done, TurnDone)
    assert (done.refused, done.refusal, done.finish_reason, done.usage) == (True, "nothing_found", "refused", None)
    assert [type(event) for event in reading.events] == [TurnDelta, TurnDone]
    assert "nichts gefunden" in reading.text
    assert (message.state, message.text) == ("refused", reading.text)
    assert provider.calls == []


async def test_a_cancelled_turn_closes_the_provider_within_a_second_and_keeps_what_was_written(
    kitchen: Kitchen,
) -> None:
    provider = ScriptedProvider(("Take two percent ", SILENCE))
    async with chatting(kitchen, provider) as asker:
        accepted, reading = await asker.ask("How much salt does sauerkraut take?")
        await reading.until(TurnDelta)
        await asker.cancel(reading.turn_id, vault_id="another")
        assert not provider.closed.is_set()
        await asker.cancel(reading.turn_id)
        async with asyncio.timeout(1.0):
            await provider.closed.wait()
        end = await reading.end()
        message = await kitchen.stored(accepted.message_id)
    assert isinstance(end, TurnCancelled)
    assert end.reason == "asked"
    assert end.usage is not None
    assert end.usage.counted
    assert numbered(reading)
    assert (message.state, message.text) == ("cancelled", reading.text)
    assert message.text.strip() == "Take two percent"


async def test_a_turn_past_its_deadline_is_cancelled(kitchen: Kitchen) -> None:
    provider = ScriptedProvider(("Take ", SILENCE))
    async with chatting(kitchen, provider) as asker:
        _, reading = await asker.ask("How much salt does sauerkraut take?", deadline_ms=500)
        end = await reading.end()
    assert isinstance(end, TurnCancelled)
    assert end.reason == "deadline"
    assert provider.closed.is_set()


async def test_a_service_that_stops_ends_its_turns_before_it_is_gone(kitchen: Kitchen) -> None:
    provider = ScriptedProvider(("Take ", SILENCE))
    async with chatting(kitchen, provider) as asker:
        accepted, reading = await asker.ask("How much salt does sauerkraut take?")
        await reading.until(TurnDelta)
    end = await reading.end(timeout_s=2)
    assert isinstance(end, TurnCancelled)
    assert end.reason == "shutdown"
    assert (await kitchen.stored(accepted.message_id)).state == "cancelled"


@pytest.mark.parametrize("stream", [True, False])
async def test_a_provider_that_fails_ends_the_turn_as_failed_with_what_was_written(
    kitchen: Kitchen, stream: bool
) -> None:
    provider = ScriptedProvider(("Take two percent. ", RateLimited("The provider asks to wait.", retry_after_s=3)))
    async with chatting(kitchen, provider) as asker:
        accepted, reading = await asker.ask("How much salt does sauerkraut take?", stream=stream)
        end = await reading.end()
        message = await kitchen.stored(accepted.message_id)
    assert isinstance(end, TurnFailed)
    assert (end.code, end.message, end.retry_after_ms) == ("unavailable", "The provider asks to wait.", 3000)
    assert (message.state, message.text.strip()) == ("failed", "Take two percent.")
    assert reading.text == message.text


async def test_a_whole_answer_is_the_streamed_one_in_one_delta(kitchen: Kitchen) -> None:
    streaming, whole = ScriptedProvider(ANSWER), ScriptedProvider(ANSWER)
    async with chatting(kitchen, streaming) as asker:
        _, first = await asker.ask("How much salt does sauerkraut take?")
        await first.end()
    async with chatting(kitchen, whole) as asker:
        _, second = await asker.ask("How much salt does sauerkraut take?", stream=False)
        await second.end()
    assert sum(isinstance(event, TurnDelta) for event in second.events) == 1
    assert first.text == second.text
    assert streaming.calls == whole.calls
    assert [context.text for context in streaming.contexts] == [context.text for context in whole.contexts]


async def test_one_answer_at_a_time_in_a_conversation(kitchen: Kitchen) -> None:
    gate = asyncio.Event()
    async with chatting(kitchen, ScriptedProvider(("Take ", gate, "two percent [1]."))) as asker:
        accepted, reading = await asker.ask("How much salt does sauerkraut take?")
        await reading.until(TurnDelta)
        second = await asker.send("And how long?", uuid4(), conversation_id=accepted.conversation_id)
        refused = ErrorReply.model_validate_json(second.data)
        assert (refused.code, refused.retry_after_ms) == ("unavailable", 1_000)
        assert "being answered" in refused.message
        gate.set()
        await reading.end()
        _, follow_up = await asker.ask("And how long?", conversation_id=accepted.conversation_id)
        assert isinstance(await follow_up.end(), TurnDone)


async def test_a_follow_up_sees_the_history_without_its_numbers_and_searches_with_its_words(kitchen: Kitchen) -> None:
    provider = ScriptedProvider(ANSWER)
    async with chatting(kitchen, provider) as asker:
        accepted, reading = await asker.ask("How much salt does sauerkraut take?")
        await reading.end()
        _, follow_up = await asker.ask("And how long?", conversation_id=accepted.conversation_id)
        await follow_up.end()
    sources = follow_up.events[0]
    assert isinstance(sources, TurnSources)
    assert "sauerkraut" in sources.query
    roles = [message.role for message in provider.calls[1]]
    assert roles == ["system", "user", "assistant", "user"]
    assert "[1]" not in provider.calls[1][2].content
    assert "two percent" in provider.calls[1][2].content


async def test_the_same_request_again_is_accepted_and_answered_once(kitchen: Kitchen) -> None:
    provider = ScriptedProvider(ANSWER)
    async with chatting(kitchen, provider) as asker:
        accepted, reading = await asker.ask("How much salt does sauerkraut take?")
        await reading.end()
        again = await asker.send("How much salt does sauerkraut take?", reading.turn_id)
        other = await asker.send("Something else?", reading.turn_id)
    assert ChatAccepted.model_validate_json(again.data) == accepted
    assert ErrorReply.model_validate_json(other.data).code == "invalid"
    assert len(provider.calls) == 1


async def test_a_lost_stream_fails_the_turn_and_the_next_one_is_answered(kitchen: Kitchen) -> None:
    gate = asyncio.Event()
    async with chatting(kitchen, ScriptedProvider(("Take ", gate, "two percent [1]."))) as asker:
        accepted, reading = await asker.ask("How much salt does sauerkraut take?")
        await reading.until(TurnDelta)
        await asker.client.jetstream().delete_stream(accepted.stream)  # as a restart of the server does
        gate.set()
        left = await told(kitchen, accepted)
        assert (await kitchen.stored(accepted.message_id)).state == "failed"
        _, following = await asker.ask("How much salt does sauerkraut take?")
        assert isinstance(await following.end(), TurnDone)
    assert [type(event) for event in left] == [TurnFailed]


async def told(kitchen: Kitchen, accepted: ChatAccepted) -> Sequence[TurnEvent]:
    """Wait until the turn is told, and return what the stream has of it."""
    stream = NatsTurnStream(kitchen.client, kitchen.topology, lambda: asyncio.sleep(0))
    async with asyncio.timeout(20):
        while not (events := (await stream.read("kitchen", accepted.turn_id)).events):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return events
