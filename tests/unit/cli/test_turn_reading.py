"""Events of a turn are read once each and in order, whatever becomes of the connection and the stream."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from uuid import uuid4

import nats.errors
import nats.js.errors
import pytest

from deploy.embedded.client import BusClient
from deploy.embedded.turn_reading import TurnReader
from shared.contracts.chat import AnyTurnEvent, ChatRequest, TurnDelta, TurnDone, TurnEvent
from shared.errors import CitebusError, DeadlineExceeded
from tests.unit.cli.fakes import ScriptedBus
from tests.unit.cli.scripted_turns import Listening, OnEvent, ScriptedTurns, Turn, deltas, done

SUBJECT = f"citebus.v1.turn.notes.{uuid4()}"


async def read(streams: ScriptedTurns, count: int) -> list[AnyTurnEvent]:
    async with TurnReader(streams, "TURNS", SUBJECT, quiet_s=0.05) as reader, asyncio.timeout(5):
        return [await reader.next() for _ in range(count)]


def text(events: Sequence[TurnEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TurnDelta))


async def test_what_was_told_before_is_read_too() -> None:
    streams = ScriptedTurns()
    await streams.tell(SUBJECT, deltas("a", "b"))
    assert text(await read(streams, 2)) == "ab"


class Forgetful(ScriptedTurns):
    """Delivers one event and then nothing more, as a consumer whose stream is gone."""

    async def subscribe(self, subject: str, *, stream: str, ordered_consumer: bool, cb: OnEvent) -> Listening:
        subscription = await super().subscribe(subject, stream=stream, ordered_consumer=ordered_consumer, cb=cb)
        self.listening.clear()
        await self.tell(SUBJECT, deltas("x"))
        return subscription


async def test_after_a_silence_the_turn_is_read_anew_and_what_is_known_is_skipped() -> None:
    streams = Forgetful()
    events = await read(streams, 3)
    assert [event.seq for event in events] == [1, 2, 3]
    assert len(streams.subscribed) == 4


class TakenOver(ScriptedTurns):
    """The writer died and its events with it; the turn was ended by one who knew of none of them."""

    async def subscribe(self, subject: str, *, stream: str, ordered_consumer: bool, cb: OnEvent) -> Listening:
        self.stored.clear()
        again = bool(self.subscribed)
        subscription = await super().subscribe(subject, stream=stream, ordered_consumer=ordered_consumer, cb=cb)
        await self.tell(SUBJECT, [done()] if again else deltas("a", "b"))
        return subscription


async def test_the_end_of_a_turn_counts_whatever_its_number() -> None:
    events = await read(TakenOver(), 3)
    assert [type(event) for event in events] == [TurnDelta, TurnDelta, TurnDone]


class LateStream(ScriptedTurns):
    """The stream, or the server, is not there at first."""

    def __init__(self, *failures: Exception) -> None:
        super().__init__()
        self.failures = list(failures)

    async def subscribe(self, subject: str, *, stream: str, ordered_consumer: bool, cb: OnEvent) -> Listening:
        if self.failures:
            raise self.failures.pop()
        return await super().subscribe(subject, stream=stream, ordered_consumer=ordered_consumer, cb=cb)


async def test_a_stream_that_is_not_there_yet_is_waited_for() -> None:
    streams = LateStream(
        nats.js.errors.NotFoundError(), nats.errors.TimeoutError(), nats.errors.ConnectionClosedError()
    )
    await streams.tell(SUBJECT, deltas("a"))
    assert text(await read(streams, 1)) == "a"


async def test_what_is_no_event_is_an_error() -> None:
    streams = ScriptedTurns(stored={SUBJECT: [b"{}"]})
    with pytest.raises(CitebusError, match="another version"):
        await read(streams, 1)


async def test_asking_yields_every_event_up_to_the_last() -> None:
    bus = ScriptedBus()
    bus.turns.turns.append(Turn([*deltas("Twice ", "a day."), done()]))
    request = ChatRequest(question="How often?", turn_id=uuid4())
    async with BusClient("nats://x", connect=bus.connect) as client:
        events = [event async for event in client.ask("notes", request)]
    assert text(events) == "Twice a day."
    assert isinstance(events[-1], TurnDone)
    assert bus.turns.listening == {}


async def test_a_turn_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deploy.embedded.client.LATE_S", 0.0)
    bus = ScriptedBus()
    bus.turns.turns.append(Turn(deltas("Twice")))
    request = ChatRequest(question="How often?", turn_id=uuid4(), deadline_ms=100)
    async with BusClient("nats://x", connect=bus.connect) as client, aclosing(client.ask("notes", request)) as events:
        assert isinstance(await anext(events), TurnDelta)
        with pytest.raises(DeadlineExceeded, match="did not end in time"):
            await anext(events)
    assert bus.turns.listening == {}
