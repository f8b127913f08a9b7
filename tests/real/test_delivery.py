"""Delivery on a real server: what the policy does with outcomes, errors, restarts of consumers and waiting messages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import nats.errors
import nats.js.errors
import pytest
from nats.aio.client import Client
from nats.js import api

from shared.delivery import MAX_SURPRISES, Consumer, Dead, Delivered, Delivery, Done, Handler, Outcome, Retry
from shared.errors import InvalidInput, Unavailable
from shared.provision import provision_bus
from shared.topology import CONSUMER_WORKERS, Topology


class Recorder:
    """A handler that keeps what it saw and answers by a script; without one: Done."""

    def __init__(self) -> None:
        self.seen: list[Delivered] = []
        self.batches: list[int] = []
        self.answers: dict[bytes, list[Outcome | Exception]] = {}
        self.changed = asyncio.Event()

    async def __call__(self, batch: Sequence[Delivered]) -> Sequence[Outcome]:
        self.batches.append(len(batch))
        outcomes: list[Outcome] = []
        for message in batch:
            self.seen.append(message)
            answers = self.answers.get(message.data)
            answer = answers.pop(0) if answers else Done()
            if isinstance(answer, Exception):
                self.changed.set()
                raise answer
            outcomes.append(answer)
        self.changed.set()
        return outcomes

    async def until(self, count: int, timeout_s: float = 10.0) -> None:
        """Wait until so many deliveries were seen."""
        async with asyncio.timeout(timeout_s):
            while len(self.seen) < count:
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def delivering(
    bus: Client, topology: Topology, handler: Handler, *, batch: int = 8, ack_wait_s: float = 10.0
) -> AsyncGenerator[None]:
    """Run a delivery of FILES."""

    async def repair() -> None:
        await provision_bus(bus, topology)

    consumer = Consumer(topology.files, CONSUMER_WORKERS, batch, ack_wait_s)
    task = asyncio.create_task(Delivery(bus, topology, consumer, handler, repair).run())
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def publish(bus: Client, topology: Topology, *bodies: bytes) -> None:
    """Publish one message per body, each on a subject of its own."""
    for body in bodies:
        await bus.jetstream().publish(topology.file("v", body.decode()), body)


async def nothing_pending(bus: Client, topology: Topology) -> None:
    """Wait until the consumer has nothing left, acked or not."""
    async with asyncio.timeout(10):
        while True:
            info = await bus.jetstream().consumer_info(topology.files, CONSUMER_WORKERS)
            if not info.num_pending and not info.num_ack_pending:
                return
            await asyncio.sleep(0.02)


@pytest.fixture
async def provisioned(bus: Client, topology: Topology) -> Topology:
    """Return names whose streams and consumers exist."""
    await provision_bus(bus, topology)
    return topology


async def test_what_is_done_is_acked_and_comes_once(bus: Client, provisioned: Topology) -> None:
    recorder = Recorder()
    await publish(bus, provisioned, *[f"m{i}".encode() for i in range(30)])
    async with delivering(bus, provisioned, recorder):
        await recorder.until(30)
        await nothing_pending(bus, provisioned)
    assert sorted(m.data for m in recorder.seen) == sorted(f"m{i}".encode() for i in range(30))
    assert max(recorder.batches) <= 8
    assert {m.deliveries for m in recorder.seen} == {1}


async def test_a_message_is_handled_as_soon_as_it_comes_not_when_a_batch_is_full(
    bus: Client, provisioned: Topology
) -> None:
    recorder = Recorder()
    async with delivering(bus, provisioned, recorder, batch=64):
        for count in range(1, 6):
            await publish(bus, provisioned, f"m{count}".encode())
            await recorder.until(count, timeout_s=0.5)


async def test_a_retry_comes_again_after_its_delay(bus: Client, provisioned: Topology) -> None:
    recorder = Recorder()
    recorder.answers[b"m"] = [Retry("not yet", 0.05)]
    await publish(bus, provisioned, b"m")
    async with delivering(bus, provisioned, recorder):
        await recorder.until(2)
        await nothing_pending(bus, provisioned)
    assert [m.deliveries for m in recorder.seen] == [1, 2]


async def test_an_outage_is_retried_for_ever_and_loses_nothing(bus: Client, provisioned: Topology) -> None:
    recorder = Recorder()
    recorder.answers[b"m"] = [Unavailable("away", retry_after_s=0.01) for _ in range(MAX_SURPRISES + 3)]
    await publish(bus, provisioned, b"m")
    async with delivering(bus, provisioned, recorder):
        await recorder.until(MAX_SURPRISES + 4)
        await nothing_pending(bus, provisioned)
    dead = await bus.jetstream().stream_info(provisioned.dead)
    assert dead.state.messages == 0


async def test_a_message_that_nothing_can_help_is_put_aside_with_its_reason(bus: Client, provisioned: Topology) -> None:
    recorder = Recorder()
    recorder.answers[b"m"] = [Dead("no such thing")]
    await publish(bus, provisioned, b"m")
    async with delivering(bus, provisioned, recorder):
        await nothing_pending(bus, provisioned)
    subject = provisioned.dead_letter(CONSUMER_WORKERS, "m")
    letter = await bus.jetstream().get_last_msg(provisioned.dead, subject)
    assert letter.data == b"m"
    assert (letter.headers or {})["Citebus-Reason"] == "no such thing"


async def test_a_bad_message_does_not_fail_its_batch(bus: Client, provisioned: Topology) -> None:
    recorder = Recorder()
    recorder.answers[b"bad"] = [InvalidInput("bad"), InvalidInput("bad")]
    await publish(bus, provisioned, b"good1", b"bad", b"good2")
    async with delivering(bus, provisioned, recorder):
        await nothing_pending(bus, provisioned)
    handled = [m.data for m in recorder.seen]
    assert handled.count(b"good2") == 1
    dead = await bus.jetstream().stream_info(provisioned.dead)
    assert dead.state.messages == 1


async def test_a_superseded_message_is_not_delivered_again(bus: Client, provisioned: Topology) -> None:
    recorder = Recorder()
    recorder.answers[b"old"] = [Retry("busy", 0.2)]
    subject = provisioned.file("v", "k")
    await bus.jetstream().publish(subject, b"old")
    async with delivering(bus, provisioned, recorder):
        await recorder.until(1)
        await bus.jetstream().publish(subject, b"new")
        await recorder.until(2)
        await nothing_pending(bus, provisioned)
    assert [m.data for m in recorder.seen] == [b"old", b"new"]


async def test_a_consumer_that_was_deleted_is_made_again(bus: Client, provisioned: Topology) -> None:
    recorder = Recorder()
    async with delivering(bus, provisioned, recorder):
        await publish(bus, provisioned, b"one")
        await recorder.until(1)
        await bus.jetstream().delete_stream(provisioned.files)
        async with asyncio.timeout(20):
            while True:
                try:
                    await publish(bus, provisioned, b"two")
                    break
                except (nats.errors.Error, nats.js.errors.Error):  # the stream isn't back yet
                    await asyncio.sleep(0.1)
        await recorder.until(2)


async def test_slow_work_keeps_its_messages(bus: Client, provisioned: Topology) -> None:
    recorder = Recorder()

    async def slow(batch: Sequence[Delivered]) -> Sequence[Outcome]:
        outcomes = await recorder(batch)
        await asyncio.sleep(1.0)
        return outcomes

    jetstream = bus.jetstream()
    await jetstream.add_consumer(
        provisioned.files, api.ConsumerConfig(durable_name=CONSUMER_WORKERS, ack_wait=0.6, max_ack_pending=20_000)
    )
    await publish(bus, provisioned, b"one", b"two", b"three")
    async with delivering(bus, provisioned, slow, batch=1, ack_wait_s=0.6):
        await nothing_pending(bus, provisioned)
    assert sorted(m.data for m in recorder.seen) == [b"one", b"three", b"two"]
