"""A database is brought to this version's schema once, by one process at a time, or refused with a reason."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import asyncpg
import pytest

from shared.errors import InvalidInput, Unavailable
from shared.postgres.migrations import migrate, migrations
from tests.databases import dsn_of
from tests.servers import run_folder


@pytest.fixture
async def empty_database(postgres_dsn: str) -> AsyncGenerator[str]:
    """Yield the DSN of a database without any table."""
    name = f"test_{run_folder().name[-8:].lower()}_empty"
    await execute(postgres_dsn, f"DROP DATABASE IF EXISTS {name}")
    await execute(postgres_dsn, f"CREATE DATABASE {name}")
    yield dsn_of(postgres_dsn, name)
    await execute(postgres_dsn, f"DROP DATABASE {name} WITH (FORCE)")


async def execute(dsn: str, statement: str) -> None:
    """Run one statement."""
    connection = await asyncpg.connect(dsn)
    await connection.execute(statement)
    await connection.close()


async def test_all_migrations_are_applied_once(empty_database: str) -> None:
    assert await migrate(empty_database) == [migration.name for migration in migrations()]
    assert await migrate(empty_database) == []


async def test_processes_that_migrate_at_once_apply_each_once(empty_database: str) -> None:
    applied = await asyncio.gather(*(migrate(empty_database) for _ in range(4)))
    assert sorted(name for names in applied for name in names) == sorted(one.name for one in migrations())


async def test_a_migration_that_differs_from_the_one_applied_is_refused(database: str) -> None:
    await execute(database, "UPDATE schema_migrations SET sha256 = 'another' WHERE version = 1")
    with pytest.raises(InvalidInput, match=r"0001 .* differs"):
        await migrate(database)


async def test_a_database_of_a_newer_version_is_refused(database: str) -> None:
    await execute(database, "INSERT INTO schema_migrations (version, name, sha256) VALUES (9999, 'future', 'x')")
    with pytest.raises(InvalidInput, match="9999, unknown to this version: upgrade"):
        await migrate(database)


async def test_a_migration_that_fails_leaves_nothing_behind(empty_database: str) -> None:
    await execute(empty_database, "CREATE TABLE chunks (in_the_way text)")
    with pytest.raises(asyncpg.DuplicateTableError):
        await migrate(empty_database)
    connection = await asyncpg.connect(empty_database)
    tables = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    await connection.close()
    assert [row["tablename"] for row in tables] == ["chunks"]


async def test_a_server_that_is_away_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        await migrate("postgresql://nobody@127.0.0.1:1/nothing")
