"""Servers that come late, go, freeze and come back: nothing is lost, nothing put aside, every caller gets an answer."""

from __future__ import annotations

import asyncio
import signal
import time
from pathlib import Path

import pytest

from shared.contracts.ingest import StatusReply, StatusRequest, WaitReply, WaitRequest
from shared.contracts.message import Message
from shared.contracts.search import ResolveReply, ResolveRequest, SearchReply, SearchRequest
from shared.ids import content_hash
from tests.real.outages import Load, all_is_well, machine, note, system_on, until
from tests.system import Refused, System

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("wheels"), pytest.mark.timeout(120)]

AWAY_S = 5.0


def questions(system: System) -> list[tuple[str, Message, type[Message], float]]:
    """Return one request of each kind with the seconds in which it must be answered."""
    page = "00000000-0000-0000-0000-000000000000"
    resolve = ResolveRequest.model_validate({"page_id": page, "chunk_id": page, "content_hash": content_hash("x")})
    wait = WaitRequest(path="n0.md", content_hash=content_hash("x"), timeout_ms=1_000)
    topology, vault = system.topology, system.vault_id
    return [
        (topology.search(vault), SearchRequest(query="m0x", deadline_ms=1_000), SearchReply, 2.0),
        (topology.resolve(vault), resolve, ResolveReply, 5.0),
        (topology.ingest("status", vault), StatusRequest(), StatusReply, 5.0),
        (topology.ingest("wait", vault), wait, WaitReply, 2.0),
    ]


async def refusals(system: System) -> set[str]:
    """Ask everything at once and return the codes of the errors; none may come late."""

    async def ask(subject: str, request: Message, reply: type[Message], within_s: float) -> str:
        with pytest.raises(Refused) as refused:
            await system.ask(subject, request, reply, within_s)
        return refused.value.reply.code

    return set(await asyncio.gather(*(ask(*question) for question in questions(system))))


def write(system: System, *numbers: int) -> None:
    """Save notes without waiting for anything."""
    for n in numbers:
        (system.vault / f"n{n}.md").write_text(note(n))


async def test_services_wait_for_a_bus_that_comes_later(data_dir: Path) -> None:
    async with machine(data_dir) as one:
        await one.start("nats")  # so that its port is known
        await one.stop("nats")

        async def begin_and_work() -> None:
            async with system_on(one, start=("postgres",)) as system:
                write(system, *range(3))
                await all_is_well(system, 3)

        working = asyncio.create_task(begin_and_work())
        await asyncio.wait({working}, timeout=2.0)
        assert not working.done()
        await one.start("nats")
        await working


async def test_a_bus_that_is_killed_while_files_change_loses_and_repeats_nothing(data_dir: Path) -> None:
    async with machine(data_dir) as one, system_on(one) as system:
        for start in range(0, 60, 20):
            write(system, *range(start, start + 10))
            await until(lambda: system.resources.client.is_connected)
            await asyncio.sleep(0.1)  # in the middle of the work
            one.kill("nats")
            write(system, *range(start + 10, start + 20))
            await until(lambda: not system.resources.client.is_connected)
        await all_is_well(system, 60)
        assert system.embedder.document_texts == 60


async def test_a_database_that_is_away_while_files_change_delays_and_loses_nothing(data_dir: Path) -> None:
    async with machine(data_dir) as one, system_on(one) as system:
        write(system, *range(10))
        await system.settled(lambda status: status.pages == 10)
        await one.stop("postgres")
        end, n = time.monotonic() + AWAY_S, 10
        while time.monotonic() < end or n < 20:
            write(system, n)
            n += 1
            assert await refusals(system) == {"unavailable"}
        await one.start("postgres")
        await all_is_well(system, n)
        assert system.embedder.document_texts == n


async def test_a_database_that_freezes_keeps_no_caller_waiting(data_dir: Path) -> None:
    async with machine(data_dir) as one, system_on(one) as system:
        write(system, 0)
        await system.settled(lambda status: status.pages == 1)
        one.signal_family("postgres", signal.SIGSTOP)
        try:
            write(system, 1)
            for _ in range(3):
                assert await refusals(system) <= {"unavailable", "deadline"}
        finally:
            one.signal_family("postgres", signal.SIGCONT)
        await all_is_well(system, 2)


async def test_a_database_that_is_killed_under_a_load_of_searches_costs_typed_errors_only(data_dir: Path) -> None:
    async with machine(data_dir) as one, system_on(one) as system:
        write(system, *range(5))
        await system.settled(lambda status: status.pages == 5)
        load = Load()
        async with asyncio.TaskGroup() as tasks:
            for n in range(8):
                tasks.create_task(load.run(system, f"m{n % 5}x"))
            for _ in range(2):
                await load.goes_on(20)
                one.kill("postgres")
                await load.is_refused()
            await load.goes_on(50)
            load.stopped = True
        assert load.failures == []
        assert set(load.refusals) <= {"unavailable", "deadline"}
        assert all(reply.citations for reply in load.replies[-20:])
        await all_is_well(system, 5)
