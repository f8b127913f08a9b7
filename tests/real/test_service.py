"""A request is always answered, in time, by its reply or by a typed error, and what runs can be seen."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg
from pydantic import Field

from shared.contracts.error import ErrorReply
from shared.contracts.message import Message
from shared.errors import DeadlineExceeded, InvalidInput, NotFound, RateLimited, SpaceMismatch, TooLarge, Unavailable
from shared.service import ERROR_CODE_HEADER, ERROR_HEADER, IN_FLIGHT, Endpoint, serve
from shared.topology import Topology


class Question(Message):
    type: Literal["test.question.v1"] = "test.question.v1"
    number: int = Field(default=0, ge=0)


class Answer(Message):
    type: Literal["test.answer.v1"] = "test.answer.v1"
    vault_id: str
    number: int


Answering = Callable[[str, Question], Awaitable[Message]]


async def echo(vault_id: str, question: Question) -> Answer:
    return Answer(vault_id=vault_id, number=question.number)


class Gate:
    """A handler that holds every request until it is opened."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.entered = asyncio.Semaphore(0)

    async def __call__(self, vault_id: str, question: Question) -> Answer:
        self.entered.release()
        await self.opened.wait()
        return await echo(vault_id, question)

    async def holds(self, count: int) -> None:
        for _ in range(count):
            await self.entered.acquire()


@asynccontextmanager
async def serving(bus: Client, topology: Topology, handler: Answering) -> AsyncGenerator[str]:
    """Serve one endpoint; yield the subject that reaches it for the vault `v`."""
    endpoint = Endpoint("ask", f"{topology.root}.ask.*", Question, handler, "askers")
    async with serve(bus, name=service_name(topology), version="1.2.3", description="Answers", endpoints=[endpoint]):
        await bus.flush()
        yield f"{topology.root}.ask.v"


def service_name(topology: Topology) -> str:
    return f"asking-{topology.namespace}"


def failing(error: Exception) -> Answering:
    async def handle(vault_id: str, question: Question) -> Answer:
        del vault_id, question
        raise error

    return handle


def error_of(message: Msg) -> ErrorReply:
    """Return the error that a reply is, told alike by its headers and its body."""
    headers = message.headers or {}
    reply = ErrorReply.model_validate_json(message.data)
    assert headers[ERROR_CODE_HEADER] == reply.code
    assert headers[ERROR_HEADER].isascii()
    return reply


async def test_a_request_is_answered_for_the_vault_in_its_subject(bus: Client, topology: Topology) -> None:
    async with serving(bus, topology, echo) as subject:
        message = await bus.request(subject, b'{"number": 7, "later field": true}', timeout=5)
        empty = await bus.request(subject, b"", timeout=5)
    assert Answer.model_validate_json(message.data) == Answer(vault_id="v", number=7)
    assert Answer.model_validate_json(empty.data).number == 0
    assert ERROR_CODE_HEADER not in (message.headers or {})


@pytest.mark.parametrize(
    ("error", "code", "retry_after_ms"),
    [
        (InvalidInput("wrong"), "invalid", None),
        (NotFound("absent"), "not_found", None),
        (TooLarge("large"), "too_large", None),
        (SpaceMismatch("other"), "invalid", None),
        (Unavailable("away"), "unavailable", None),
        (RateLimited("slower", retry_after_s=1.5), "unavailable", 1500),
        (DeadlineExceeded("late"), "deadline", None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
async def test_each_error_has_its_code_and_its_words(
    bus: Client, topology: Topology, error: Exception, code: str, retry_after_ms: int | None
) -> None:
    async with serving(bus, topology, failing(error)) as subject:
        reply = error_of(await bus.request(subject, b"{}", timeout=5))
    assert (reply.code, reply.message, reply.retry_after_ms) == (code, str(error), retry_after_ms)


async def test_words_of_an_error_that_no_header_can_carry_arrive_in_the_body(bus: Client, topology: Topology) -> None:
    words = "Größe\r\nInjected: header\n" + "x" * 2_000
    async with serving(bus, topology, failing(InvalidInput(words))) as subject:
        message = await bus.request(subject, b"{}", timeout=5)
    assert error_of(message).message == words
    assert "Injected" not in (message.headers or {})


async def test_the_text_of_an_unexpected_exception_never_leaves(bus: Client, topology: Topology) -> None:
    secret = "postgresql://owner:hunter2@host"
    async with serving(bus, topology, failing(RuntimeError(secret))) as subject:
        message = await bus.request(subject, b"{}", timeout=5)
    assert error_of(message).code == "internal"
    assert b"hunter2" not in message.data
    assert "hunter2" not in str(message.headers)


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"[]", b'{"number": -1}', b'{"number": "many"}', b'{"type": "x"}'])
async def test_a_body_that_is_no_request_is_invalid_and_the_handler_is_not_called(
    bus: Client, topology: Topology, body: bytes
) -> None:
    async with serving(bus, topology, failing(AssertionError("called"))) as subject:
        reply = error_of(await bus.request(subject, body, timeout=5))
    assert reply.code == "invalid"
    assert "Question" in reply.message


async def test_a_subject_without_a_proper_vault_id_is_invalid(bus: Client, topology: Topology) -> None:
    async with serving(bus, topology, echo) as subject:
        reply = error_of(await bus.request(subject.removesuffix(".v") + ".Not_A_Vault", b"{}", timeout=5))
    assert reply.code == "invalid"


async def test_requests_are_worked_side_by_side_and_too_many_are_told_to_come_back(
    bus: Client, topology: Topology
) -> None:
    gate = Gate()
    async with serving(bus, topology, gate) as subject:
        held = [asyncio.create_task(bus.request(subject, b"{}", timeout=20)) for _ in range(IN_FLIGHT)]
        await gate.holds(IN_FLIGHT)
        refused = error_of(await bus.request(subject, b"{}", timeout=5))
        assert refused.code == "unavailable"
        assert refused.retry_after_ms
        gate.opened.set()
        answers = await asyncio.gather(*held)
        assert all(Answer.model_validate_json(message.data) for message in answers)
        assert Answer.model_validate_json((await bus.request(subject, b"{}", timeout=5)).data)


async def test_a_service_that_stops_finishes_what_it_began(bus: Client, topology: Topology) -> None:
    gate = Gate()
    held: list[asyncio.Task[Msg]] = []

    async def serve_shortly() -> None:
        async with serving(bus, topology, gate) as subject:
            held.extend(asyncio.create_task(bus.request(subject, b"{}", timeout=20)) for _ in range(3))
            await gate.holds(3)

    stopping = asyncio.create_task(serve_shortly())
    await asyncio.wait({stopping}, timeout=0.2)
    assert not stopping.done()
    gate.opened.set()
    await stopping
    assert [Answer.model_validate_json((await task).data).vault_id for task in held] == ["v"] * 3


async def test_ping_info_and_stats_tell_what_runs_and_count_errors_too(bus: Client, topology: Topology) -> None:
    async def moody(vault_id: str, question: Question) -> Answer:
        if question.number:
            raise NotFound("nothing there")
        return await echo(vault_id, question)

    async with serving(bus, topology, moody) as subject:
        for number in (0, 0, 1):
            await bus.request(subject, json.dumps({"number": number}).encode(), timeout=5)
        await bus.request(subject, b"{", timeout=5)
        ping, info, stats = [await asked(bus, topology, verb) for verb in ("PING", "INFO", "STATS")]
    assert (ping["name"], ping["version"]) == (service_name(topology), "1.2.3")
    assert [endpoint["subject"] for endpoint in info["endpoints"]] == [f"{topology.root}.ask.*"]
    (counted,) = stats["endpoints"]
    assert counted["num_requests"] == 4
    assert counted["num_errors"] == 2
    assert counted["data"]["errors_by_code"] == {"not_found": 1, "invalid": 1}


async def asked(bus: Client, topology: Topology, verb: str) -> dict[str, Any]:
    """Return what the service says of itself."""
    message = await bus.request(f"$SRV.{verb}.{service_name(topology)}", b"", timeout=5)
    return json.loads(message.data)


async def test_a_reply_larger_than_a_message_may_be_is_an_error_not_silence(bus: Client, topology: Topology) -> None:
    async def endless(vault_id: str, question: Question) -> Answer:
        del vault_id
        return Answer(vault_id="v" * (bus.max_payload + 1), number=question.number)

    async with serving(bus, topology, endless) as subject:
        reply = error_of(await bus.request(subject, b"{}", timeout=5))
    assert reply.code == "too_large"


async def test_what_is_published_without_a_reply_address_is_passed_over(bus: Client, topology: Topology) -> None:
    numbers: list[int] = []

    async def noting(vault_id: str, question: Question) -> Answer:
        numbers.append(question.number)
        return await echo(vault_id, question)

    async with serving(bus, topology, noting) as subject:
        await bus.publish(subject, b'{"number": 1}')
        await bus.request(subject, b'{"number": 2}', timeout=5)
    assert numbers == [2]


async def test_a_handler_that_hangs_even_when_cancelled_does_not_keep_the_caller_waiting(
    bus: Client, topology: Topology
) -> None:
    released = asyncio.Event()

    async def stubborn(vault_id: str, question: Question) -> Answer:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await released.wait()  # as a driver does that says goodbye to a server that does not answer
        return await echo(vault_id, question)

    endpoint = Endpoint("ask", f"{topology.root}.ask.*", Question, stubborn, "askers", limit_s=lambda _: 0.05)
    async with serve(bus, name=service_name(topology), version="1.2.3", description="Hangs", endpoints=[endpoint]):
        reply = error_of(await bus.request(f"{topology.root}.ask.v", b"{}", timeout=5))
    assert reply.code == "deadline"
    released.set()
