"""One watcher per vault."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import time
from collections.abc import Awaitable, Callable

from services.ingest.watcher.lease import Lease, Owner
from tests.fakes.in_memory_file_log import InMemoryLeaseStore

OTHER = Owner(host="elsewhere", pid=1)


def working(running: asyncio.Event, stopped: asyncio.Event) -> Callable[[], Awaitable[None]]:
    """Return work that says when it runs and when it was stopped."""

    async def work() -> None:
        running.set()
        stopped.clear()
        try:
            await asyncio.Event().wait()
        finally:
            running.clear()
            stopped.set()

    return work


class Holder:
    """A watcher's process, as far as its lease goes."""

    def __init__(self, store: InMemoryLeaseStore, owner: Owner) -> None:
        self.running = asyncio.Event()
        self.stopped = asyncio.Event()
        lease = Lease(store, "notes", owner)
        self.task = asyncio.create_task(lease.hold(working(self.running, self.stopped)))

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.wait((self.task,))
        assert self.task.cancelled()


def store(ttl_s: float = 0.2) -> InMemoryLeaseStore:
    return InMemoryLeaseStore(time.monotonic, ttl_s)


async def soon(event: asyncio.Event) -> None:
    async with asyncio.timeout(5):
        await event.wait()


async def test_a_second_watcher_waits_until_the_first_stops():
    leases = store()
    first = Holder(leases, Owner(nonce="first"))
    await soon(first.running)
    second = Holder(leases, Owner(nonce="second"))
    await asyncio.sleep(0.5)  # more than the time to live: the first one renews
    assert not second.running.is_set()
    assert first.running.is_set()
    await first.stop()
    await soon(second.running)
    await second.stop()
    assert await leases.owner("notes") is None


async def test_a_watcher_whose_lease_is_taken_stops_and_waits():
    leases = store()
    holder = Holder(leases, Owner())
    await soon(holder.running)
    leases.expire("notes")
    token = await leases.acquire("notes", OTHER.to_json())
    assert token is not None
    await soon(holder.stopped)
    await leases.release("notes", token)
    await soon(holder.running)
    await holder.stop()


async def test_a_watcher_that_can_t_renew_stops_before_the_lease_runs_out():
    leases = store(ttl_s=0.5)
    holder = Holder(leases, Owner())
    await soon(holder.running)
    leases.down = True
    started = time.monotonic()
    await soon(holder.stopped)
    assert time.monotonic() - started < 0.5
    leases.down = False
    await soon(holder.running)
    await holder.stop()


async def test_a_store_that_is_down_at_the_start_is_waited_for():
    leases = store()
    leases.down = True
    holder = Holder(leases, Owner())
    await asyncio.sleep(0.1)
    assert not holder.running.is_set()
    leases.down = False
    await soon(holder.running)
    await holder.stop()


async def test_the_lease_of_a_dead_process_of_this_machine_is_taken_at_once():
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await process.wait()
    leases = store(ttl_s=1000)
    assert await leases.acquire("notes", Owner(pid=process.pid).to_json()) is not None
    holder = Holder(leases, Owner())
    await soon(holder.running)
    await holder.stop()


async def test_the_lease_of_another_machine_is_left_to_it():
    leases = store(ttl_s=1000)
    await leases.acquire("notes", OTHER.to_json())
    holder = Holder(leases, Owner())
    await asyncio.sleep(0.1)
    assert not holder.running.is_set()
    await holder.stop()


async def test_work_that_ends_frees_the_lease_and_its_error_is_raised():
    leases = store()

    async def work() -> None:
        raise ZeroDivisionError

    try:
        await Lease(leases, "notes", Owner()).hold(work)
    except ZeroDivisionError:
        assert await leases.owner("notes") is None
    else:
        raise AssertionError("the error is lost")


def test_an_owner_is_read_back_and_a_living_one_is_not_gone():
    owner = Owner()
    assert (owner.host, owner.pid) == (socket.gethostname(), os.getpid())
    assert Owner.from_json(owner.to_json()) == owner
    assert not owner.is_gone()
    assert not OTHER.is_gone()
    assert Owner.from_json("nonsense") is None
    assert Owner.from_json('{"other": 1}') is None
