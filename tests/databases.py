"""Databases and streams of single tests: made from a template with the current schema, removed afterwards."""

from __future__ import annotations

import re
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import nats
import nats.js.errors
from nats.js import JetStreamContext

from shared.postgres.migrations import migrate
from shared.topology import Topology
from tests.servers import locked


def run_prefix(folder: Path) -> str:
    """Return what the names of all databases of a run begin with."""
    return f"test_{re.sub('[^a-z0-9]', '', folder.name.lower())}_"


@asynccontextmanager
async def fresh_database(server_dsn: str, folder: Path) -> AsyncGenerator[str]:
    """Yield the DSN of a database that holds the current schema and no row; it is dropped at the end."""
    prefix = run_prefix(folder)
    name = f"{prefix}{uuid.uuid4().hex[:12]}"
    await _ensure_template(server_dsn, f"{prefix}template", folder)
    await _execute(server_dsn, f"CREATE DATABASE {name} TEMPLATE {prefix}template")
    try:
        yield dsn_of(server_dsn, name)
    finally:
        await _execute(server_dsn, f"DROP DATABASE {name} WITH (FORCE)")


async def drop_databases(server_dsn: str, prefix: str) -> None:
    """Drop all databases whose name begins with `prefix`."""
    connection = await asyncpg.connect(server_dsn)
    try:
        for row in await connection.fetch("SELECT datname FROM pg_database WHERE starts_with(datname, $1)", prefix):
            await connection.execute(f"DROP DATABASE {row['datname']} WITH (FORCE)")
    finally:
        await connection.close()


def dsn_of(server_dsn: str, database: str) -> str:
    """Return the DSN of another database on the same server."""
    return urlsplit(server_dsn)._replace(path=f"/{database}").geturl()


async def delete_namespace(nats_url: str, topology: Topology) -> None:
    """Delete every stream and bucket of a namespace."""
    client = await nats.connect(nats_url)
    try:
        jetstream = client.jetstream()
        own = (f"{topology.namespace}_", f"KV_{topology.namespace}-", f"OBJ_{topology.namespace}-")
        for name in await stream_names(jetstream):
            if name.startswith(own):
                with suppress(nats.js.errors.NotFoundError):  # gone in the meantime
                    await jetstream.delete_stream(name)
    finally:
        await client.close()


async def stream_names(jetstream: JetStreamContext) -> list[str]:
    """Return the names of all streams, those of buckets too; the server gives them page by page."""
    names: list[str] = []
    while page := await jetstream.streams_info(offset=len(names)):
        names += [info.config.name or "" for info in page]
    return names


async def _ensure_template(server_dsn: str, name: str, folder: Path) -> None:
    with locked(folder / "template.lock"):
        if (folder / "template.made").exists():
            return
        await _execute(server_dsn, f"DROP DATABASE IF EXISTS {name}")
        await _execute(server_dsn, f"CREATE DATABASE {name}")
        await migrate(dsn_of(server_dsn, name))
        (folder / "template.made").touch()


async def _execute(dsn: str, statement: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
