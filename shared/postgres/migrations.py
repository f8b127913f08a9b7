"""Brings a database to the schema that this version needs: `sql/NNNN_name.sql`, in order, each once.

Migrations are never edited after a release; a changed one, or a database from a newer version, is refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from shared.errors import InvalidInput
from shared.postgres.pool import Connection, connect, translated

_LOCK = 0x63697465
"""Advisory lock that lets one process migrate at a time; the value is arbitrary but fixed."""

_TABLE = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    version    integer PRIMARY KEY,
    name       text NOT NULL,
    sha256     text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)
"""

_TABLES = """
SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' AND NOT tablename = ANY ($1)
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One SQL file."""

    version: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        """Fingerprint that tells an edited migration."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def migrations() -> list[Migration]:
    """Return all migrations of this version, oldest first."""
    folder = resources.files("shared.postgres") / "sql"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [Migration(int(f.name[:4]), f.name[5:-4], f.read_text(encoding="utf-8")) for f in files]


async def migrate(dsn: str) -> list[str]:
    """Apply what is missing and return the names applied; several callers at once wait for one another.

    Raises Unavailable when the server can't be reached, InvalidInput when the database is newer than this version
    or was migrated by an edited file.
    """
    async with connect(dsn) as connection, connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        await connection.execute(_TABLE)
        return [await _apply(connection, migration) for migration in await _missing(connection)]


async def _missing(connection: Connection) -> list[Migration]:
    rows = await connection.fetch("SELECT version, name, sha256 FROM schema_migrations")
    applied: dict[int, str] = {row["version"]: row["sha256"] for row in rows}
    known = migrations()
    newer = set(applied) - {m.version for m in known}
    if newer:
        raise InvalidInput(f"The database has migration {max(newer)}, unknown to this version: upgrade citebus.")
    for migration in known:
        if applied.get(migration.version, migration.sha256) != migration.sha256:
            raise InvalidInput(
                f"Migration {migration.version:04} ({migration.name}) differs from the one applied to this database: "
                "install the citebus version that made it, or rebuild into an empty database."
            )
    return [m for m in known if m.version not in applied]


async def _apply(connection: Connection, migration: Migration) -> str:
    await connection.execute(migration.sql)
    await connection.execute(
        "INSERT INTO schema_migrations (version, name, sha256) VALUES ($1, $2, $3)",
        migration.version,
        migration.name,
        migration.sha256,
    )
    return migration.name


async def empty(connection: Connection, kept: Sequence[str]) -> None:
    """Empty every table but `kept` and the list of migrations. Raises Unavailable."""
    with translated("emptying tables"):
        names = await connection.fetch(_TABLES, [*kept, "schema_migrations"])
        if names:
            listed = ", ".join(row["name"] for row in names)
            await connection.execute(f"TRUNCATE {listed} RESTART IDENTITY")
