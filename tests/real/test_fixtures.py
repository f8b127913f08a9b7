"""The fixtures on real servers do what they say."""

from __future__ import annotations

import asyncpg
from nats.aio.client import Client

from shared.topology import Topology
from tests.databases import delete_namespace, stream_names


async def test_a_fresh_database_has_the_schema_and_no_rows(database: str) -> None:
    connection = await asyncpg.connect(database)
    try:
        assert await connection.fetchval("SELECT count(*) FROM pages") == 0
    finally:
        await connection.close()


async def test_streams_and_buckets_of_a_namespace_are_deleted_and_no_others(
    bus: Client, nats_url: str, topology: Topology
) -> None:
    jetstream = bus.jetstream()
    other = Topology(namespace=f"{topology.namespace}x")
    for names in (topology, other):
        await jetstream.add_stream(name=names.files, subjects=[f"{names.root}.file.>"])
        await jetstream.create_key_value(bucket=names.vaults)
    await delete_namespace(nats_url, topology)
    left = set(await stream_names(jetstream))
    assert left & {topology.files, other.files, f"KV_{topology.vaults}", f"KV_{other.vaults}"} == {
        other.files,
        f"KV_{other.vaults}",
    }
    await delete_namespace(nats_url, other)
