"""Connections to Postgres, with driver errors turned into citebus errors and JSON columns as Python values."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeAlias

import asyncpg

from shared.errors import Unavailable

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]"
Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"

_UNREACHABLE = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # the connection broke in the middle of a call
    asyncpg.PostgresConnectionError,
    asyncpg.exceptions.OperatorInterventionError,  # shutting down, starting up, crash of a sibling
    asyncpg.exceptions.InsufficientResourcesError,  # disk full, too many connections
    asyncpg.exceptions.LockNotAvailableError,
)

_AGAIN_S = 0.05
"""Pause before work that met other work is done again."""


@contextmanager
def translated(doing: str) -> Generator[None]:
    """Turn what the driver raises for a server that is away, full or busy into Unavailable, naming what was done."""
    try:
        yield
    except asyncpg.exceptions.TransactionRollbackError as error:  # deadlock, serialization: at once it may pass
        raise Unavailable(f"Postgres asks to try again ({doing}): {error}", retry_after_s=_AGAIN_S) from error
    except _UNREACHABLE as error:
        raise Unavailable(f"Postgres is not available ({doing}): {str(error) or type(error).__name__}") from error


@asynccontextmanager
async def connect(dsn: str) -> AsyncGenerator[Connection]:
    """Open one connection and close it at the end. Raises Unavailable."""
    with translated("connecting"):
        connection = await asyncpg.connect(dsn, timeout=10)
    try:
        await _prepare(connection)
        with translated("working on one connection"):
            yield connection
    finally:
        await connection.close(timeout=5)


@asynccontextmanager
async def open_pool(dsn: str, *, max_size: int = 4, read_only: bool = False) -> AsyncGenerator[Pool]:
    """Open a pool and close it at the end; a read-only one refuses writes whatever its role may. Raises Unavailable."""
    settings = {"application_name": "citebus", "statement_timeout": "60000", "jit": "off"}  # no statement is that long
    if read_only:
        settings["default_transaction_read_only"] = "on"
        settings["plan_cache_mode"] = "force_generic_plan"  # one lookup by key after another: planning costs as much
    with translated("connecting"):
        pool = await asyncpg.create_pool(
            dsn,
            min_size=0,  # the pool's own upkeep would print tracebacks while the server is away
            max_size=max_size,
            timeout=10,
            command_timeout=60,
            init=_prepare_pooled,
            reset=_keep,
            server_settings=settings,
        )
    try:
        yield pool
    finally:
        await pool.close()


_ARRAYS = "SELECT $1::uuid[], $2::bigint[], $3::integer[], $4::smallint[], $5::real[], $6::bytea[], $7::boolean[]"
"""The driver asks the server what an array is the first time that it meets it: once for all, not amid a bulk load."""


async def _keep(_: Connection) -> None:
    """Leave a connection as it is: nothing here sets anything beyond a transaction, and a reset costs a round trip."""


async def _prepare(connection: Connection) -> None:
    await connection.set_type_codec(
        "jsonb", encoder=_to_jsonb, decoder=_from_jsonb, schema="pg_catalog", format="binary"
    )


async def _prepare_pooled(connection: Connection) -> None:
    await _prepare(connection)
    await connection.prepare(_ARRAYS)


def _to_jsonb(value: object) -> bytes:
    return b"\x01" + json.dumps(value, ensure_ascii=False).encode()  # 1: the version of jsonb's wire format


def _from_jsonb(data: bytes) -> object:
    return json.loads(data[1:])
