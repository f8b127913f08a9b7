"""The page graph in Postgres (port `Edges`): tables edges, edge_pages, edge_sources, edge_work, edge_rules.

Marks are taken in the transaction that settles them, under an advisory lock per vault: a crash loses nothing, and of
several keepers one works a vault at a time. Commits of pages are never waited for, and never wait.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from uuid import UUID

from services.ingest.adapters.postgres import edge_statements as sql
from services.ingest.edge_keeping import Settled
from services.ingest.edges import (
    AFFINITY_WEIGHT,
    COMMON_WEIGHT,
    MAX_SOURCES,
    SOURCE_WEIGHT,
    EdgeRules,
    affinities,
)
from shared.page_graph import LINK_WEIGHT
from shared.postgres.pool import Connection, Pool, translated

_WEIGHTS = (LINK_WEIGHT, SOURCE_WEIGHT, COMMON_WEIGHT, AFFINITY_WEIGHT)
_AFFINITIES = tuple(list(column) for column in zip(*affinities(), strict=True))


class PostgresEdges:
    """Keeps edges by rules; the pool belongs to the caller."""

    def __init__(self, pool: Pool, rules: EdgeRules) -> None:
        self._pool = pool
        self._rules = rules

    async def adopt_rules(self) -> bool:
        """Mark every page when the edges were kept by other rules, or never yet; return whether."""
        fingerprint = self._rules.fingerprint()
        with translated("comparing the rules of edges"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute("SELECT pg_advisory_xact_lock($1)", lock_key("rules"))
                if await connection.fetchval(sql.RULES) == fingerprint:
                    return False
                await connection.execute(sql.MARK_ALL)
                await connection.execute(sql.SET_RULES, fingerprint)
                return True

    async def marked_vaults(self) -> list[str]:
        """Return the vaults that have marked pages, in order."""
        with translated("looking for marked pages"):
            return [row["vault_id"] for row in await self._pool.fetch(sql.MARKED_VAULTS)]

    async def settle(self, vault_id: str, limit: int) -> Settled | None:
        """Take the marks of at most `limit` pages and make their edges right; None: another keeper works this vault."""
        with translated("settling edges"):
            async with self._pool.acquire() as connection, connection.transaction():
                began = await connection.fetchrow(sql.BEGIN, lock_key(vault_id))
                assert began is not None
                if not began["mine"]:
                    return None
                marks = await connection.fetch(sql.CLAIM, vault_id, limit)
                pages = sorted({row["page_id"] for row in marks})
                return await self._settle(connection, vault_id, pages) if pages else Settled(0, 0, 0)

    async def _settle(self, connection: Connection, vault_id: str, pages: Sequence[UUID]) -> Settled:
        rules = self._rules
        stirred = await connection.fetch(sql.PAGES, vault_id, pages, rules.degree_limit, rules.generated_stems)
        sources = await connection.fetch(sql.SOURCES, vault_id, pages, MAX_SOURCES)
        row = await connection.fetchrow(
            sql.SETTLE,
            vault_id,
            pages,
            [row["page_id"] for row in stirred],
            [row["source"] for row in sources],
            rules.degree_limit,
            rules.source_limit,
            [row["gained"] for row in sources],
            [row["lost"] for row in sources],
            *_AFFINITIES,
            *_WEIGHTS,
        )
        assert row is not None
        return Settled(len(pages), row["written"], row["removed"])


def lock_key(name: str) -> int:
    """Return the key of the advisory lock that the keeper of a vault holds."""
    return int.from_bytes(hashlib.sha256(f"edges {name}".encode()).digest()[:8], signed=True)
