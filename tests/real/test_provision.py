"""One step makes everything that services need, again and again, and refuses what can't work."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import asyncpg
import nats.js.errors
import pytest
from nats.aio.client import Client, ServerVersion
from nats.js import api

from shared.bus import open_bus
from shared.embedding.embedder import Space
from shared.errors import InvalidInput, NotFound, ServerTooOld, SpaceMismatch
from shared.postgres.pool import open_pool
from shared.provision import (
    ReaderRole,
    check_space,
    consumer_configs,
    provision_bus,
    provision_database,
    provision_space,
    stream_configs,
)
from shared.topology import Topology
from tests.fakes.in_memory_vector_store import InMemoryVectorStore

SMALL = Space("hashing", 64, 1)
OTHER = Space("another", 64, 1)


class OldServer(Client):
    """A client that is connected to a server of another version."""

    version = "2.11.4"

    @property
    def connected_server_version(self) -> ServerVersion:
        return ServerVersion(self.version)


@asynccontextmanager
async def reader_role(dsn: str, topology: Topology) -> AsyncGenerator[ReaderRole]:
    """Name a role that no other test uses; it is dropped afterwards."""
    role = ReaderRole(f"reader_{topology.namespace}", "pass'word")
    try:
        yield role
    finally:
        connection = await asyncpg.connect(dsn)
        await connection.execute(f"DROP OWNED BY {role.name}; DROP ROLE {role.name}")
        await connection.close()


def dsn_of(dsn: str, role: ReaderRole) -> str:
    """Return the address of the same database for the role."""
    parts = urlsplit(dsn)
    return parts._replace(netloc=f"{role.name}:pass%27word@{parts.hostname}:{parts.port}").geturl()


async def test_streams_and_consumers_exist_and_a_second_run_changes_nothing(bus: Client, topology: Topology) -> None:
    jetstream = bus.jetstream()
    await provision_bus(bus, topology)
    await jetstream.publish(topology.file("v", "k"), b"kept")
    before = [(await jetstream.stream_info(config.name or "")).created for config in stream_configs(topology)]
    await provision_bus(bus, topology)
    assert [(await jetstream.stream_info(config.name or "")).created for config in stream_configs(topology)] == before
    assert (await jetstream.stream_info(topology.files)).state.messages == 1
    for stream, config in consumer_configs(topology):
        assert (await jetstream.consumer_info(stream, config.durable_name or "")).config.max_deliver == -1


async def test_every_stream_has_a_bound(topology: Topology) -> None:
    assert all(config.max_msgs and config.max_msgs > 0 for config in stream_configs(topology))


async def test_a_stream_that_was_configured_otherwise_is_brought_to_its_state_and_keeps_its_messages(
    bus: Client, topology: Topology
) -> None:
    jetstream = bus.jetstream()
    subject = f"{topology.root}.page.>"
    await jetstream.add_stream(api.StreamConfig(name=topology.pages, subjects=[subject], max_msgs=7))
    await jetstream.publish(topology.page("v", "indexed"), b"kept")
    await provision_bus(bus, topology)
    info = await jetstream.stream_info(topology.pages)
    assert (info.config.max_msgs, info.state.messages) == (1_000_000, 1)


async def test_a_bus_that_is_too_old_is_refused_before_anything_is_made(nats_url: str, topology: Topology) -> None:
    client = OldServer()
    await client.connect(nats_url)
    try:
        with pytest.raises(ServerTooOld, match=r"2\.11\.4 is too old: citebus needs 2\.12"):
            await provision_bus(client, topology)
        with pytest.raises(nats.js.errors.NotFoundError):
            await client.jetstream().stream_info(topology.files)
    finally:
        await client.close()


async def test_the_reader_reads_everything_and_changes_nothing(
    database: str, postgres_dsn: str, topology: Topology
) -> None:
    async with reader_role(postgres_dsn, topology) as role:
        for _ in range(2):  # the second time the role is there already
            await provision_database(database, role)
        try:
            async with open_pool(dsn_of(database, role)) as pool:
                assert await pool.fetchval("SELECT count(*) FROM chunks") == 0
                for statement in (
                    "INSERT INTO vaults (vault_id) VALUES ('x')",
                    "DELETE FROM pages",
                    "DROP TABLE files",
                ):
                    with pytest.raises(asyncpg.InsufficientPrivilegeError):
                        await pool.execute(statement)
        finally:
            connection = await asyncpg.connect(database)
            await connection.execute(f"DROP OWNED BY {role.name}")
            await connection.close()


async def test_a_pool_that_only_reads_refuses_writes_of_the_owner_too(database: str) -> None:
    async with open_pool(database, read_only=True) as pool:
        with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
            await pool.execute("DELETE FROM pages")


async def test_a_role_name_that_is_no_identifier_is_refused(database: str) -> None:
    with pytest.raises(InvalidInput, match="no role name"):
        await provision_database(database, ReaderRole("x; DROP TABLE pages", "p"))


async def test_the_first_space_becomes_the_live_one_and_another_is_refused(database: str) -> None:
    store = InMemoryVectorStore()
    async with open_pool(database) as pool:
        with pytest.raises(NotFound):
            await check_space(pool, SMALL)
        for _ in range(2):
            await provision_space(database, SMALL, store)
        await check_space(pool, SMALL)
        with pytest.raises(SpaceMismatch, match="citebus rebuild"):
            await check_space(pool, OTHER)
        with pytest.raises(SpaceMismatch):
            await provision_space(database, OTHER, store)
        assert await pool.fetchval("SELECT count(*) FROM spaces") == 1
    with pytest.raises(NotFound):
        await store.count(OTHER.name)


async def test_a_connection_that_is_opened_is_closed(nats_url: str) -> None:
    async with open_bus(nats_url, name="test") as client:
        assert client.is_connected
    assert client.is_closed
