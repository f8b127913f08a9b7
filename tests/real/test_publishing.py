"""Many messages to a stream: durable when it returns, and clear when it fails."""

from __future__ import annotations

import asyncio

import pytest
from nats.aio.client import Client
from nats.js import api

from shared.errors import TooLarge, Unavailable
from shared.publishing import Outgoing, Publisher
from shared.topology import Topology


async def made(bus: Client, topology: Topology, **limits: object) -> str:
    """Make a stream; return the subject that leads into it, without its last token."""
    subject = f"{topology.root}.things"
    await bus.jetstream().add_stream(name=topology.stream("THINGS"), subjects=[f"{subject}.>"], **limits)  # type: ignore[arg-type]
    return subject


async def count(bus: Client, topology: Topology) -> int:
    """Return how many messages the stream has."""
    return (await bus.jetstream().stream_info(topology.stream("THINGS"))).state.messages


def outgoing(subject: str, number: int) -> list[Outgoing]:
    return [Outgoing(f"{subject}.{n}", str(n).encode()) for n in range(number)]


async def test_all_are_stored_in_order_when_it_returns(bus: Client, topology: Topology) -> None:
    subject = await made(bus, topology)
    assert await Publisher(bus).publish(outgoing(subject, 1_300)) == 1_300
    assert await count(bus, topology) == 1_300
    for sequence in (1, 513, 1_300):
        stored = await bus.jetstream().get_msg(topology.stream("THINGS"), sequence)
        assert stored.data == str(sequence - 1).encode()


async def test_nothing_to_publish_is_published_at_once(bus: Client) -> None:
    assert await Publisher(bus).publish([]) == 0


async def test_calls_that_overlap_wait_for_their_own_acks(bus: Client, topology: Topology) -> None:
    subject = await made(bus, topology)
    publisher = Publisher(bus)
    await asyncio.gather(*(publisher.publish(outgoing(f"{subject}.{n}", 40)) for n in range(10)))
    assert await count(bus, topology) == 400


async def test_headers_go_along_and_a_repeated_id_is_stored_once(bus: Client, topology: Topology) -> None:
    subject = await made(bus, topology)
    message = Outgoing(f"{subject}.a", b"x", {"Nats-Msg-Id": "one"})
    await Publisher(bus).publish([message, message])
    assert await count(bus, topology) == 1


async def test_a_subject_without_a_stream_is_refused_at_once(bus: Client, topology: Topology) -> None:
    with pytest.raises(Unavailable, match="provisioned"):
        await Publisher(bus, timeout_s=30).publish([Outgoing(f"{topology.root}.nowhere", b"x")])


async def test_a_full_stream_is_refused_with_the_reason_of_the_server(bus: Client, topology: Topology) -> None:
    subject = await made(bus, topology, max_msgs=2, discard=api.DiscardPolicy.NEW)
    with pytest.raises(Unavailable, match="maximum messages exceeded"):
        await Publisher(bus).publish(outgoing(subject, 3))
    assert await count(bus, topology) == 2


async def test_a_message_larger_than_the_server_allows_is_too_large(bus: Client, topology: Topology) -> None:
    subject = await made(bus, topology)
    with pytest.raises(TooLarge):
        await Publisher(bus).publish([Outgoing(f"{subject}.a", b"x" * (bus.max_payload + 1))])


async def test_a_server_that_keeps_silent_is_unavailable_after_the_timeout(bus: Client, topology: Topology) -> None:
    subject = f"{topology.root}.silent"
    await bus.subscribe(subject)  # somebody listens, so the server does not say that nobody does
    with pytest.raises(Unavailable, match="disk is full"):
        await Publisher(bus, timeout_s=0.1).publish([Outgoing(subject, b"x")])


async def test_after_a_failure_the_next_call_works(bus: Client, topology: Topology) -> None:
    publisher = Publisher(bus)
    with pytest.raises(Unavailable):
        await publisher.publish([Outgoing(f"{topology.root}.nowhere", b"x")])
    await publisher.publish(outgoing(await made(bus, topology), 3))
    assert await count(bus, topology) == 3
