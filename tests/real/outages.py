"""A system on servers of its own that can be stopped, killed, frozen and started again, each on its own port."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deploy.embedded.nats_server import NatsServer
from deploy.embedded.postgres_server import PostgresServer
from deploy.embedded.state import DataFolder
from deploy.embedded.supervised import RestartPolicy, Supervised
from shared.contracts.search import SearchReply
from shared.provision import provision_database
from shared.topology import Topology
from tests.real.embedded_stack import family
from tests.system import Refused, System, running_system

_PATIENT = RestartPolicy(quick_failures=1_000, longest_delay_s=0.2)


class Machine:
    """The two servers of a data folder."""

    def __init__(self, folder: Path) -> None:
        data = DataFolder.create(folder)
        self.folder = folder
        self.nats = NatsServer(data, durable=False)
        self.postgres = PostgresServer(data, durable=False)
        self._running: dict[str, Supervised] = {}

    async def start(self, *names: str) -> None:
        """Start servers; return when they answer."""
        await asyncio.gather(*map(self._start, names))

    async def stop(self, *names: str) -> None:
        """Stop servers in order; they stay away until they are started."""
        await asyncio.gather(*(self._running.pop(name).stop() for name in names))

    async def stop_all(self) -> None:
        """Stop what runs."""
        await self.stop(*self._running)

    def kill(self, name: str) -> None:
        """Kill a server; its supervisor starts it again."""
        os.kill(self.pid(name), signal.SIGKILL)

    def signal_family(self, name: str, number: signal.Signals) -> None:
        """Send a signal to a server and all that it started."""
        for process in family(self.pid(name)):
            process.send_signal(number)

    def pid(self, name: str) -> int:
        """Return the process id of a server that runs."""
        pid = self._running[name].pid
        assert pid is not None
        return pid

    def log(self, name: str) -> str:
        """Return what a server wrote."""
        return DataFolder.create(self.folder).log(name).read_text(errors="replace")

    async def _start(self, name: str) -> None:
        server = {"nats": self.nats, "postgres": self.postgres}[name]
        supervised = self._running[name] = Supervised(server, _PATIENT)
        await supervised.start()


@asynccontextmanager
async def machine(folder: Path) -> AsyncGenerator[Machine]:
    """Make a machine with nothing started; whatever runs at the end is stopped."""
    one = Machine(folder)
    try:
        yield one
    finally:
        await one.stop_all()


@asynccontextmanager
async def system_on(
    one: Machine, *, start: tuple[str, ...] = ("nats", "postgres"), **options: Any
) -> AsyncGenerator[System]:
    """Run all services on a machine, after starting these of its servers."""
    await one.start(*start)
    await provision_database(one.postgres.dsn)
    async with AsyncExitStack() as stack:
        folder = one.folder.parent / "state"
        yield await stack.enter_async_context(
            running_system(one.nats.url, Topology(), one.postgres.dsn, folder, **options)
        )


@dataclass
class Load:
    """Searches that go on until they are told to stop, and what became of them."""

    replies: list[SearchReply] = field(default_factory=list[SearchReply])
    refusals: list[str] = field(default_factory=list[str])
    failures: list[BaseException] = field(default_factory=list[BaseException])
    stopped: bool = False

    async def run(self, system: System, query: str) -> None:
        """Search again and again."""
        while not self.stopped:
            try:
                self.replies.append(await system.search(query))
            except Refused as refused:
                self.refusals.append(refused.reply.code)
                await asyncio.sleep(0.02)
            except Exception as error:  # noqa: BLE001  (whatever it is, the test shows it)
                self.failures.append(error)
                await asyncio.sleep(0.02)

    async def goes_on(self, count: int) -> None:
        """Wait for so many more replies."""
        before = len(self.replies)
        await until(lambda: len(self.replies) >= before + count)

    async def is_refused(self) -> None:
        """Wait for one more refusal or failure."""
        before = len(self.refusals) + len(self.failures)
        await until(lambda: len(self.refusals) + len(self.failures) > before)


def note(n: int) -> str:
    """Return a page that differs from the others and gives one chunk."""
    return f"# Note {n}\n\nThe marker of this note is m{n}x.\n"


async def until(condition: Callable[[], bool], timeout_s: float = 40.0) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(timeout_s):
        while not condition():  # noqa: ASYNC110  (another process makes it true)
            await asyncio.sleep(0.02)


async def eventually(condition: Callable[[], Awaitable[bool]], timeout_s: float = 40.0, every_s: float = 0.05) -> None:
    """Wait until a condition holds that has to be asked for."""
    async with asyncio.timeout(timeout_s):
        while not await condition():  # noqa: ASYNC110  (another process knows)
            await asyncio.sleep(every_s)


async def all_is_well(system: System, count: int) -> None:
    """Wait until so many notes are live and embedded; nothing was lost, put aside or embedded twice."""
    await until(lambda: system.resources.client.is_connected)
    status = await system.settled(lambda status: status.pages == count)
    assert (status.rejected, status.chunks, status.embedded_chunks) == ((), count, count)
    assert set(await system.paths()) == {f"n{n}.md" for n in range(count)}
    assert await system.points() == {str(row["chunk_id"]) for row in await system.rows("SELECT chunk_id FROM chunks")}
    dead = await system.resources.client.jetstream().stream_info(system.topology.dead)
    assert dead.state.messages == 0
    for n in (0, count - 1):
        assert (await system.search(f"m{n}x", deadline_ms=20_000)).citations[0].path == f"n{n}.md"
