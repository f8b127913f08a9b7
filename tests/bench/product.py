"""The product as a user has it: `citebus up` as a process, reached over NATS, its vault a folder that is written to."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from nats.aio.client import Client

from deploy.embedded.client import BusClient
from deploy.embedded.state import RunningStack, read_running_stack
from shared.bus import open_bus
from shared.contracts.ingest import StatusReply, WaitRequest
from shared.errors import NotFound, Unavailable
from shared.ids import content_hash
from shared.topology import Topology
from tests.bench.figures import BenchFailed
from tests.bench.memory import family, family_cpu_s
from tests.bench.news import News, listening

VAULT_ID = "bench"
START_S = 90.0
STOP_S = 30.0
INGEST_S = 1_800.0
"""Longest time that any ingest may take: 20,000 files at 11 a second."""

REST_S = 600.0
"""Longest time that work in the background may take."""

HASHING = {"CITEBUS_EMBEDDING_PROVIDER": "hashing"}

_QUIET_CORES = 0.1
"""Below this use of the processors the product is at rest."""

_LOOK_S = 2.0

_PROGRAM = "from deploy.embedded.cli import main; main()"


@dataclass(slots=True)
class Product:
    """A stack that runs."""

    client: BusClient
    bus: Client
    """A connection of the bench's own, for listening."""
    news: News
    stack: RunningStack
    folder: Path
    """Folder of this run: what is written here can be moved into the vault at once."""
    vault: Path

    @property
    def pid(self) -> int:
        """The process of all services; the servers are its children."""
        return self.stack.pid

    async def status(self) -> StatusReply:
        """Return the vault's counts."""
        return await self.client.status(VAULT_ID)

    async def wait(self, path: str, data: bytes, timeout_s: float = 60.0) -> None:
        """Return when this content of a file is searchable."""
        request = WaitRequest(path=path, content_hash=content_hash(data))
        await self.client.wait(VAULT_ID, request, timeout_s=timeout_s)

    def put(self, prepared: Path) -> float:
        """Move a folder, written beside the vault, into it; return when, by time.perf_counter."""
        moved_at = time.perf_counter()
        prepared.rename(self.vault / prepared.name)
        return moved_at

    async def until_indexed(self, files: int) -> float:
        """Return when so many files had become searchable, by time.perf_counter."""
        return await self.news.until(lambda news: len(news.indexed) >= files, INGEST_S)

    async def until_embedded(self, files: int) -> float:
        """Return when so many files had all their vectors, by time.perf_counter."""
        return await self.news.until(lambda news: len(news.embedded) >= files, INGEST_S)

    async def settled(self) -> StatusReply:
        """Return the counts once nothing waits any more."""
        async with asyncio.timeout(INGEST_S):
            while True:
                status = await self.status()
                if status.files_lag == 0 and status.embed_lag == 0 and status.chunks == status.embedded_chunks:
                    return status
                await asyncio.sleep(0.1)

    async def at_rest(self) -> None:
        """Return when the product has nothing to do any more: it builds the vectors' index in the background."""
        async with asyncio.timeout(REST_S):
            busy = True
            while busy:
                before_s = family_cpu_s(self.pid)
                await asyncio.sleep(_LOOK_S)
                busy = family_cpu_s(self.pid) - before_s > _QUIET_CORES * _LOOK_S


@asynccontextmanager
async def running_product(folder: Path, environment: Mapping[str, str] = HASHING) -> AsyncGenerator[Product]:
    """Run `citebus up` on an empty vault and data folder below `folder`; nothing of it is left running at the end.

    Raises BenchFailed, with the end of what it said, when it does not come up.
    """
    vault, data_dir = folder / "vault", folder / "data"
    log_file = folder / "stack.log"
    process = _start(vault, data_dir, log_file, environment)
    try:
        stack = await _started(process, data_dir, log_file)
        async with (
            BusClient(stack.nats_url) as client,
            open_bus(stack.nats_url, name="bench") as bus,
            listening(bus, Topology(), VAULT_ID) as news,
        ):
            await _known(client)
            yield Product(client, bus, news, stack, folder, vault)
    finally:
        await asyncio.to_thread(_stop, process)


def _start(vault: Path, data_dir: Path, log_file: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    vault.mkdir()
    (vault / ".citebus.toml").write_text(f'id = "{VAULT_ID}"\n')
    command = [sys.executable, "-c", _PROGRAM, "up", str(vault), "--data-dir", str(data_dir)]
    with log_file.open("wb") as log:
        # a session of its own: Ctrl-C reaches the bench alone, which then stops the product in order
        return subprocess.Popen(
            command, stdout=log, stderr=log, env={**os.environ, **environment}, start_new_session=True
        )


async def _started(process: subprocess.Popen[bytes], data_dir: Path, log_file: Path) -> RunningStack:
    end = time.monotonic() + START_S
    while time.monotonic() < end and process.poll() is None:
        stack = read_running_stack(data_dir)
        if stack is not None:
            return stack
        await asyncio.sleep(0.05)
    raise BenchFailed(f"citebus up did not come up within {START_S:.0f} s; it said:\n{_end_of(log_file)}")


def _end_of(log_file: Path) -> str:
    return log_file.read_text(errors="replace")[-2_000:]


async def _known(client: BusClient) -> None:
    """Wait until the vault's first sweep is over."""
    async with asyncio.timeout(START_S):
        while True:
            try:
                await client.status(VAULT_ID)
                await client.sync(VAULT_ID)
            except (NotFound, Unavailable):
                await asyncio.sleep(0.1)
            else:
                return


def _stop(process: subprocess.Popen[bytes]) -> None:
    processes = family(process.pid)
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    _, alive = psutil.wait_procs(processes, timeout=1)
    for left in alive:
        left.kill()
