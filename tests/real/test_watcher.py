"""The watcher on a real NATS: leases, faults of the connection, and a vault from folder to stream."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import api

from services.ingest.adapters.nats_file_log import NatsFileLog
from services.ingest.adapters.nats_lease import NatsLeaseStore
from services.ingest.adapters.nats_vault_catalogue import NatsVaultCatalogue
from services.ingest.watcher.manifest import Manifest
from services.ingest.watcher.options import WatcherOptions
from services.ingest.watcher.ports import LeaseStore
from services.ingest.watcher.settings_file import read_settings
from services.ingest.watcher.watcher import Ports, Watcher
from shared.contracts.files import FileChanged
from shared.errors import Unavailable
from shared.provision import provision_bus
from shared.topology import Topology
from tests.fakes.in_memory_file_log import InMemoryLeaseStore

OPTIONS = WatcherOptions(look_around_s=0.2, retry_first_s=0.05, retry_most_s=0.2)


@pytest.fixture
async def nats_leases(bus: Client, topology: Topology) -> LeaseStore:
    """Return the store on a real server."""
    await bus.jetstream().create_key_value(api.KeyValueConfig(bucket=topology.leases, ttl=1.0))
    return NatsLeaseStore(bus, topology, ttl_s=1.0)


@pytest.fixture(params=[pytest.param("nats", marks=pytest.mark.real), "in memory"])
def leases(request: pytest.FixtureRequest) -> LeaseStore:
    """Return a store whose leases run out after a second."""
    if request.param == "in memory":
        return InMemoryLeaseStore(time.monotonic, 1.0)
    return request.getfixturevalue("nats_leases")


async def test_a_lease_has_one_owner(leases: LeaseStore):
    assert await leases.owner("notes") is None
    token = await leases.acquire("notes", "one")
    assert token is not None
    assert await leases.acquire("notes", "two") is None
    assert await leases.owner("notes") == ("one", token)
    assert await leases.acquire("other", "two") is not None


async def test_a_renewed_lease_stays_and_an_old_token_is_worth_nothing(leases: LeaseStore):
    token = await leases.acquire("notes", "one")
    assert token is not None
    newer = await leases.renew("notes", "one", token)
    assert newer is not None
    assert await leases.renew("notes", "two", token) is None
    await leases.release("notes", token)
    assert await leases.owner("notes") == ("one", newer)


async def test_a_released_lease_is_free_at_once(leases: LeaseStore):
    token = await leases.acquire("notes", "one")
    assert token is not None
    await leases.release("notes", token)
    assert await leases.owner("notes") is None
    assert await leases.acquire("notes", "two") is not None


async def test_a_lease_that_is_not_renewed_runs_out(leases: LeaseStore):
    token = await leases.acquire("notes", "one")
    assert token is not None
    await until(lambda: leases.acquire("notes", "two"))
    assert await leases.renew("notes", "one", token) is None


class LosesTheEntry(Client):
    """A connection before whose reads of a message the bucket's entries run out."""

    async def request(self, subject: str, *args: Any, **options: Any) -> Msg:
        if ".MSG.GET." in subject or ".DIRECT.GET." in subject:
            await self.jetstream().purge_stream(re.search(r"KV_[^.]+", subject)[0])  # pyright: ignore[reportOptionalSubscript]
        return await super().request(subject, *args, **options)


async def test_a_lease_that_runs_out_while_another_asks_for_it_is_free_at_the_next_try(
    nats_leases: NatsLeaseStore, nats_url: str, topology: Topology
):
    assert await nats_leases.acquire("notes", "one") is not None
    client = LosesTheEntry()
    await client.connect(nats_url)
    try:
        late = NatsLeaseStore(client, topology)
        assert await late.acquire("notes", "two") is None
        assert await late.acquire("notes", "two") is not None
    finally:
        await client.close()


async def test_leases_without_a_bucket_are_unavailable(bus: Client, topology: Topology):
    with pytest.raises(Unavailable):
        await NatsLeaseStore(bus, topology).acquire("notes", "one")


@dataclass
class Running:
    """A running watcher and what it writes to."""

    root: Path
    log: NatsFileLog
    watcher: Watcher

    async def newest(self, path: str) -> FileChanged | None:
        try:
            return await self.log.newest("notes", path)
        except Unavailable:
            return None

    async def says(self, path: str, text: str) -> bool:
        newest = await self.newest(path)
        return newest is not None and newest.content == text.encode()


@asynccontextmanager
async def running(bus: Client, topology: Topology, folder: Path) -> AsyncGenerator[Running]:
    root = folder / "notes"
    root.mkdir(exist_ok=True)
    log = NatsFileLog(bus, topology)
    with Manifest(folder / "notes.sqlite3") as manifest:
        ports = Ports(log, NatsVaultCatalogue(bus, topology))
        watcher = Watcher(root, read_settings(root), manifest, ports, OPTIONS)
        task = asyncio.create_task(watcher.run())
        yield Running(root, log, watcher)
        task.cancel()
        await asyncio.wait((task,))
    assert task.cancelled()


async def test_a_saved_file_reaches_the_stream_and_a_moved_one_leaves_a_tombstone(
    bus: Client, topology: Topology, tmp_path: Path
):
    await provision_bus(bus, topology)
    async with running(bus, topology, tmp_path) as vault:
        (vault.root / "a.md").write_text("A")
        await until(lambda: vault.says("a.md", "A"))
        (vault.root / "a.md").rename(vault.root / "b.md")
        await until(lambda: vault.newest("b.md"))
        await until(lambda: is_moved(vault, "a.md", "b.md"))
        assert (await NatsVaultCatalogue(bus, topology).settings("notes")).vault_id == "notes"


async def test_a_stream_that_comes_later_and_is_made_anew_gets_every_file(
    bus: Client, topology: Topology, tmp_path: Path
):
    async with running(bus, topology, tmp_path) as vault:
        (vault.root / "a.md").write_text("A")
        await until(lambda: has_problem(vault.watcher))
        await provision_bus(bus, topology)
        await until(lambda: vault.says("a.md", "A"))
        before = await vault.newest("a.md")
        await bus.jetstream().delete_stream(topology.files)
        (vault.root / "b.md").write_text("B")
        await provision_bus(bus, topology)
        await until(lambda: vault.says("a.md", "A"))
        await until(lambda: vault.says("b.md", "B"))
        assert await vault.newest("a.md") == before


async def test_a_lost_manifest_is_rebuilt_from_the_stream(bus: Client, topology: Topology, tmp_path: Path):
    await provision_bus(bus, topology)
    async with running(bus, topology, tmp_path) as vault:
        for number in range(100):
            (vault.root / f"{number}.md").write_text(f"{number}")
        await vault.watcher.sync()
        sequence = (await vault.watcher.sync()).last_sequence
    (tmp_path / "notes.sqlite3").unlink()
    (tmp_path / "notes" / "7.md").unlink()
    async with running(bus, topology, tmp_path) as vault:
        await until(lambda: is_moved(vault, "7.md", None))
        reply = await vault.watcher.sync()
    assert (reply.published, reply.last_sequence) == (0, sequence + 1)


async def is_moved(vault: Running, path: str, moved_to: str | None) -> bool:
    newest = await vault.newest(path)
    return newest is not None and newest.change == "removed" and newest.moved_to == moved_to


async def has_problem(watcher: Watcher) -> bool:
    return watcher.problem is not None


async def until(ask: Callable[[], Awaitable[object]], timeout_s: float = 20.0) -> None:
    """Ask again until the answer is true."""
    async with asyncio.timeout(timeout_s):
        while not await ask():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
