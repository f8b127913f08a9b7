"""Roles that may do less than the owner: one that only reads, one that also keeps conversations.

A service that can't write what is live can't break it, whatever goes wrong inside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import asyncpg

from shared.errors import InvalidInput
from shared.postgres.pool import Connection, connect, translated

READER_ROLE = "citebus_reader"
"""Postgres role of services that only read."""

CHAT_ROLE = "citebus_chat"
"""Postgres role of the chat service."""

CONVERSATION_TABLES = ("conversations", "messages", "shares", "scores", "evidence_thresholds")
"""What the chat service keeps: nothing of it can be made again from the files of a vault."""

_GROUNDING = "vaults, pages, chunks, spaces"


@dataclass(frozen=True, slots=True)
class ReaderRole:
    """The role of services that only read."""

    name: str
    password: str


@dataclass(frozen=True, slots=True)
class ChatRole:
    """The role of the chat service: reads what is live, writes conversations and what it learnt, nothing else."""

    name: str
    password: str


async def ensure_reader(dsn: str, role: ReaderRole) -> None:
    """Let the role read everything and change nothing. Raises InvalidInput (no role name), Unavailable."""
    async with connect(dsn) as connection:
        await _ensure(connection, role)
        with translated("granting to the reader role"):
            await connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role.name}")


async def ensure_chat(dsn: str, role: ChatRole) -> None:
    """Let the role keep conversations and read pages. Raises InvalidInput (no role name), Unavailable."""
    async with connect(dsn) as connection:
        await _ensure(connection, role)
        with translated("granting to the chat role"):
            await connection.execute(f"GRANT SELECT ON {_GROUNDING} TO {role.name}")
            tables = ", ".join(CONVERSATION_TABLES)
            await connection.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {role.name}")


async def _ensure(connection: Connection, role: ReaderRole | ChatRole) -> None:
    if not re.fullmatch(r"[a-z_][a-z0-9_]*", role.name):
        raise InvalidInput(f"'{role.name}' is no role name: lower-case letters, digits and underscores.")
    with translated("making a role"):
        quoted: str = await connection.fetchval("SELECT quote_literal($1::text)", role.password)
        try:
            await connection.execute(f"CREATE ROLE {role.name} LOGIN PASSWORD {quoted}")
        except (asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError):
            await connection.execute(f"ALTER ROLE {role.name} LOGIN PASSWORD {quoted}")
        await connection.execute(f"GRANT USAGE ON SCHEMA public TO {role.name}")
