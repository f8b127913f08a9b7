"""Everything that must exist before a service starts: streams, consumers, buckets, tables, the live space.

One idempotent step, run by `citebus up` and by deployments; services declare nothing themselves. It brings what exists
to the state below and refuses a server that is too old.
"""

from __future__ import annotations

from typing import Any

import nats.js.errors
import structlog
from nats.aio.client import Client
from nats.js import JetStreamContext, api

from shared.bus import translated as bus_translated
from shared.embedding.embedder import Space
from shared.errors import InvalidInput, NotFound, ServerTooOld, SpaceMismatch
from shared.postgres.migrations import migrate
from shared.postgres.pool import Pool, connect
from shared.postgres.pool import translated as postgres_translated
from shared.postgres.roles import ChatRole, ReaderRole, ensure_chat, ensure_reader
from shared.topology import CONSUMER_EMBEDDERS, CONSUMER_WORKERS, Topology
from shared.vectors.store import VectorStore

_log = structlog.get_logger(__name__)

OLDEST_NATS = (2, 12)
"""Message schedules and per-message time to live came with 2.11 and 2.12."""

OLDEST_POSTGRES = 160_000
"""Postgres 16, as server_version_num."""

ACK_WAIT_S = 10.0
"""A batch whose worker died is delivered again after this; living workers extend it while they work."""

_DAY_S = 86_400.0
_DUPLICATES_S = 120.0

_TURNS_KEPT_S = 900.0
"""How long an asker may be away and still read its turn on."""

_TURN_EVENTS = 300_000
"""Of one turn: the longest answer, a character at a time."""

_TURNS_BYTES = 64 * 1024 * 1024
"""Memory for events of turns: some 150,000 events, several hundred answers. The server reserves it."""

_LIVE_SPACE = "SELECT name FROM spaces WHERE live"
_STREAM_EXISTS = 10058
"""JetStream's code for "stream name already in use with a different configuration"."""


def stream_configs(topology: Topology) -> list[api.StreamConfig]:
    """Return what each stream must be; every one has a bound."""
    return [
        _stream(
            topology.files,
            f"{topology.root}.file.>",
            description="Newest state of every file: a compacted log of the vaults",
            max_msgs_per_subject=1,
            max_msgs=5_000_000,
            discard=api.DiscardPolicy.NEW,  # full: the watcher hears of it; nothing of the log is dropped
            allow_direct=True,
            allow_msg_ttl=True,
            duplicate_window=_DUPLICATES_S,
        ),
        _stream(
            topology.embed,
            f"{topology.root}.embed.>",
            description="Texts that wait for their dense vector",
            retention=api.RetentionPolicy.WORK_QUEUE,
            max_msgs_per_subject=1,
            max_msgs=5_000_000,
        ),
        _stream(
            topology.pages,
            f"{topology.root}.page.>",
            description="What became of pages",
            max_age=7 * _DAY_S,
            max_msgs=1_000_000,
            duplicate_window=_DUPLICATES_S,
        ),
        _turns(topology),
        _stream(
            topology.dead,
            f"{topology.root}.dead.>",
            description="Messages that no retry can help",
            max_age=30 * _DAY_S,
            max_msgs=100_000,
        ),
    ]


def _turns(topology: Topology) -> api.StreamConfig:
    return _stream(
        topology.turns,
        f"{topology.root}.turn.>",
        description="Events of turns: for askers that read live, or come back after a lost connection",
        storage=api.StorageType.MEMORY,
        max_age=_TURNS_KEPT_S,
        max_msgs=1_000_000,
        max_bytes=_TURNS_BYTES,  # full: the oldest go, which nobody reads any more
        max_msgs_per_subject=_TURN_EVENTS,
        allow_direct=True,
    )


def _stream(name: str, subject: str, **more: Any) -> api.StreamConfig:
    more.setdefault("storage", api.StorageType.FILE)
    return api.StreamConfig(name=name, subjects=[subject], **more)


def consumer_configs(topology: Topology) -> list[tuple[str, api.ConsumerConfig]]:
    """Return the durable consumers, each with its stream; redelivery is for the delivery policy to bound."""
    return [
        (stream, api.ConsumerConfig(durable_name=name, ack_wait=ACK_WAIT_S, max_deliver=-1, max_ack_pending=20_000))
        for stream, name in ((topology.files, CONSUMER_WORKERS), (topology.embed, CONSUMER_EMBEDDERS))
    ]


async def provision_bus(client: Client, topology: Topology) -> None:
    """Create or update streams, consumers and buckets. Raises ServerTooOld, Unavailable."""
    _check_nats(client)
    jetstream = client.jetstream(timeout=10)
    with bus_translated("provisioning"):
        for stream in stream_configs(topology):
            await _ensure_stream(jetstream, stream)
        for stream_name, consumer in consumer_configs(topology):
            await jetstream.add_consumer(stream_name, consumer)
        await _ensure_bucket(jetstream, api.KeyValueConfig(bucket=topology.vaults, history=1))
        await _ensure_bucket(jetstream, api.KeyValueConfig(bucket=topology.leases, history=1, ttl=10.0))


async def provision_turns(client: Client, topology: Topology) -> None:
    """Create or update the stream of turns alone: a server that restarts loses what it keeps in memory."""
    with bus_translated("provisioning turns"):
        await _ensure_stream(client.jetstream(timeout=10), _turns(topology))


async def provision_database(dsn: str, reader: ReaderRole | None = None, chat: ChatRole | None = None) -> None:
    """Migrate, and give the roles their rights. Raises ServerTooOld, Unavailable."""
    async with connect(dsn) as connection:
        version = int(connection.get_server_version().major) * 10_000
        if version < OLDEST_POSTGRES:
            raise ServerTooOld(f"Postgres {version // 10_000} is too old: citebus needs 16 or newer.")
    for name in await migrate(dsn):
        _log.info("provision.migrated", migration=name)
    if reader is not None:
        await ensure_reader(dsn, reader)
    if chat is not None:
        await ensure_chat(dsn, chat)


async def check_space(pool: Pool, space: Space) -> None:
    """Let a service start only in the live space. Raises SpaceMismatch, NotFound (nothing was provisioned yet)."""
    with postgres_translated("reading the live space"):
        live: str | None = await pool.fetchval(_LIVE_SPACE)
    if live is None:
        raise NotFound("No embedding space is live yet: run `python -m deploy.provision` first.")
    _match(live, space)


async def provision_space(dsn: str, space: Space, store: VectorStore) -> None:
    """Make `space` the live one when there is none yet, and its collection. Raises SpaceMismatch, Unavailable.

    Two spaces are never mixed: when another one is live, its vectors would have to be made anew, which is a decision.
    """
    async with connect(dsn) as connection:
        with postgres_translated("reading the live space"):
            live: str | None = await connection.fetchval(_LIVE_SPACE)
            _match(live or space.name, space)
            await connection.execute(
                "INSERT INTO spaces (name, model, dimension, chunker_version, live) VALUES ($1, $2, $3, $4, true) "
                "ON CONFLICT (name) DO NOTHING",
                space.name,
                space.model,
                space.dimension,
                space.chunker_version,
            )
    await store.ensure_space(space)


def _match(live: str, space: Space) -> None:
    if live != space.name:
        raise SpaceMismatch(
            f"The live embedding space is {live}, the settings name {space.name}. Set the embedder back "
            "(CITEBUS_EMBEDDING_*), or build everything anew with `citebus rebuild`."
        )


def _check_nats(client: Client) -> None:
    found = client.connected_server_version
    if (found.major, found.minor) < OLDEST_NATS:
        raise ServerTooOld(
            f"nats-server {found.major}.{found.minor}.{found.patch} is too old: citebus needs 2.12 or newer."
        )


async def _ensure_stream(jetstream: JetStreamContext, config: api.StreamConfig) -> None:
    try:
        await jetstream.add_stream(config)
    except nats.js.errors.BadRequestError as error:
        if error.err_code != _STREAM_EXISTS:
            raise
        await jetstream.update_stream(config)
        _log.info("provision.stream_updated", stream=config.name)
    except nats.js.errors.ServiceUnavailableError as error:
        raise InvalidInput("NATS runs without JetStream: start nats-server with -js, or set jetstream {}.") from error


async def _ensure_bucket(jetstream: JetStreamContext, config: api.KeyValueConfig) -> None:
    try:
        await jetstream.key_value(config.bucket)
    except nats.js.errors.BucketNotFoundError:
        await jetstream.create_key_value(config)
