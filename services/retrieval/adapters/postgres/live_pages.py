"""The catalogue in Postgres (tables vaults, spaces, pages, chunks, links, files), read only.

Each method is one statement, so one snapshot; asyncpg prepares a statement once per connection. Expects a pool whose
`jsonb` columns arrive as Python values (shared.postgres.pool) and a role that cannot write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import asyncpg

from services.retrieval.adapters.postgres import edge_statements, statements
from services.retrieval.ports import (
    Choice,
    ChunkMark,
    LiveChunk,
    Neighbours,
    NewerSource,
    Outline,
    Reach,
    Snapshot,
    VaultState,
    VaultTraits,
)
from shared.contracts.files import VaultSettings
from shared.errors import NotFound
from shared.postgres.pool import Pool, translated

_NEVER_CITE: tuple[str, ...] = VaultSettings(vault_id="default").never_cite
"""Of a vault whose settings do not say: the safe default, not nothing."""


class PostgresLivePages:
    """Reads what is live; every method raises Unavailable when the server is away or busy."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def vault(self, vault_id: str) -> tuple[VaultState, str | None, bool] | None:
        """See LivePages.vault."""
        rows = await self._fetch("reading a vault", statements.VAULT, vault_id)
        return (_state(rows[0]), rows[0]["space"], rows[0]["alone"]) if rows else None

    async def traits(self, vault_id: str, hub_stems: Sequence[str]) -> VaultTraits:
        """See LivePages.traits."""
        (row,) = await self._fetch("reading a vault's languages", statements.TRAITS, vault_id, list(hub_stems))
        return VaultTraits(tuple(row["languages"]), frozenset(row["hubs"]), row["uncited"])

    async def snapshot(self, vault_id: str, chunk_ids: Sequence[UUID]) -> Snapshot:
        """See LivePages.snapshot."""
        return _snapshot(vault_id, await self._fetch("reading chunks", statements.CHUNKS, vault_id, chunk_ids))

    async def openings(self, vault_id: str, choice: Choice) -> Snapshot:
        """See LivePages.openings."""
        rows = await self._fetch(
            "reading linked pages",
            statements.OPENINGS,
            vault_id,
            choice.page_ids,
            choice.ranked,
            choice.or_first,
            choice.limit,
        )
        return _snapshot(vault_id, rows)

    async def beside(self, vault_id: str, chunk_ids: Sequence[UUID]) -> Snapshot:
        """See LivePages.beside."""
        return _snapshot(vault_id, await self._fetch("reading on", statements.BESIDE, vault_id, chunk_ids))

    async def neighbours(self, pages: Mapping[UUID, float], reach: Reach) -> Mapping[UUID, Neighbours]:
        """See LivePages.neighbours."""
        rows = await self._fetch(
            "reading edges",
            edge_statements.NEIGHBOURS,
            list(pages),
            reach.total,
            reach.fan_out,
            reach.degree_limit,
            reach.step_decay,
            reach.steps > 1,
            list(pages.values()),
        )
        return {
            page_id: Neighbours(title, slug, tuple(zip(linked, weights, strict=True)))
            for page_id, title, slug, linked, weights in rows
        }

    async def outline(self, vault_id: str, page_id: UUID) -> Outline | None:
        """See LivePages.outline."""
        rows = await self._fetch("reading a page's outline", statements.OUTLINE, vault_id, page_id)
        if not rows:
            raise _unknown(vault_id)
        first = rows[0]
        if first["title"] is None:
            return None
        return Outline(
            data_version=first["data_version"],
            title=first["title"],
            slug=first["slug"],
            disk_path=first["disk_path"],
            paths=(first["path"], *first["former_paths"]),
            marks=tuple(
                ChunkMark(row["chunk_id"], row["chunk_index"], row["content_hash"])
                for row in rows
                if row["chunk_id"] is not None
            ),
        )

    async def _fetch(self, doing: str, statement: str, *arguments: Any) -> list[asyncpg.Record]:
        with translated(doing):
            return await self._pool.fetch(statement, *arguments)


def _state(row: asyncpg.Record) -> VaultState:
    never_cite = row["never_cite"]
    return VaultState(row["data_version"], _NEVER_CITE if never_cite is None else tuple(never_cite))


def _snapshot(vault_id: str, rows: Sequence[asyncpg.Record]) -> Snapshot:
    if not rows:
        raise _unknown(vault_id)
    chunks = (_chunk(row) for row in rows if row["chunk_id"] is not None)
    return Snapshot(_state(rows[0]), {chunk.chunk_id: chunk for chunk in chunks})


def _chunk(row: asyncpg.Record) -> LiveChunk:
    """Return the row's columns from the third on: they stand in the order of the fields, a newer source's last."""
    _, _, chunk_id, page_id, index, content_hash, heading_path, *rest, source_path, written_on, by_file, as_of = row
    newer = None if source_path is None else NewerSource(source_path, written_on, by_file, as_of)
    return LiveChunk(chunk_id, page_id, index, content_hash, tuple(heading_path), *rest, newer_source=newer)


def _unknown(vault_id: str) -> NotFound:
    return NotFound(f"There is no vault '{vault_id}'.")
