"""The worker's ledger in Postgres (port `Ledger`)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager
from uuid import UUID

from services.ingest.adapters.postgres import sql
from services.ingest.adapters.postgres.work import PostgresWork
from services.ingest.ports import Epoch
from services.ingest.shelf import LivePage, Slot
from shared.contracts.files import VaultSettings
from shared.contracts.ingest import RejectedFile, SpaceStatus, StatusReply
from shared.errors import NotFound
from shared.postgres.pool import Pool, translated


class PostgresLedger:
    """Rows of vaults, files, pages, chunks and links; the pool belongs to the caller.

    `on_marked` is told after each commit that changes edges around how many pages.
    """

    def __init__(self, pool: Pool, on_marked: Callable[[int], None] = lambda _: None) -> None:
        self._pool = pool
        self._on_marked = on_marked

    async def epoch(self) -> Epoch | None:
        """Return the newest epoch."""
        with translated("reading the epoch"):
            row = await self._pool.fetchrow(sql.EPOCH)
        return Epoch(**dict(row)) if row else None

    async def begin_epoch(self, stream: str) -> int:
        """Begin an epoch; two workers may do so at once, then the later one counts."""
        with translated("beginning an epoch"):
            return await self._pool.fetchval(sql.BEGIN_EPOCH, stream)

    async def ensure_vault(self, settings: VaultSettings) -> None:
        """Record a vault, or its changed settings."""
        with translated("recording a vault"):
            await self._pool.execute(sql.ENSURE_VAULT, settings.vault_id, settings.model_dump(mode="json"))

    @asynccontextmanager
    async def work(
        self, vault_id: str, file_keys: Collection[str], page_ids: Collection[UUID]
    ) -> AsyncGenerator[PostgresWork]:
        """Open a transaction for these slots and pages; commit at the end, roll back on an error."""
        with translated("committing pages"):
            async with self._pool.acquire() as connection, connection.transaction():
                work = PostgresWork(connection, vault_id, file_keys, page_ids)
                yield work
        if work.marked:
            self._on_marked(work.marked)

    async def outdated(self, vault_id: str, config_hash: str, limit: int) -> list[str]:
        """Return file keys worked with another config, in order."""
        with translated("looking for outdated pages"):
            rows = await self._pool.fetch(sql.OUTDATED, vault_id, config_hash, limit)
        return [row["file_key"] for row in rows]

    async def slot(self, vault_id: str, file_key: str) -> tuple[Slot, LivePage | None] | None:
        """Return a slot and the page that lies there, as one moment saw them."""
        with translated("reading a file's state"):
            async with (
                self._pool.acquire() as connection,
                connection.transaction(isolation="repeatable_read", readonly=True),
            ):
                shelf = await PostgresWork(connection, vault_id, [file_key], []).unlocked_shelf()
        slot = shelf.slots.get(file_key)
        if slot is None:
            return None
        return slot, next((page for page in shelf.pages.values() if page.path == slot.path), None)

    async def data_version(self, vault_id: str) -> int:
        """Return the vault's data version; 0 for an unknown vault."""
        with translated("reading a data version"):
            return await self._pool.fetchval(sql.DATA_VERSION, vault_id) or 0

    async def status(self, vault_id: str, rejected_limit: int) -> StatusReply:
        """Return the vault's counts."""
        with translated("counting"):
            async with (
                self._pool.acquire() as connection,
                connection.transaction(isolation="repeatable_read", readonly=True),
            ):
                counts = await connection.fetchrow(sql.COUNTS, vault_id)
                if counts is None:
                    raise NotFound(f"There is no vault '{vault_id}': `citebus up FOLDER` makes one.")
                slots = await connection.fetchrow(sql.SLOT_COUNTS, vault_id)
                links = await connection.fetchrow(sql.LINK_COUNTS, vault_id)
                rejected = await connection.fetch(sql.REJECTED, vault_id, rejected_limit)
                spaces = await connection.fetch(sql.SPACES)
        assert slots is not None
        assert links is not None
        return StatusReply(
            vault_id=vault_id,
            **dict(counts),
            rejected_count=slots["rejected"],
            removed=slots["removed"],
            last_revision=slots["last_revision"],
            rejected=tuple(
                RejectedFile(path=row["disk_path"], reason=row["reason"] or "", last_good_is_live=row["live"])
                for row in rejected
            ),
            files_lag=0,
            embed_lag=0,
            dead_links=links["dead"],
            ambiguous_links=links["ambiguous"],
            spaces=tuple(SpaceStatus(**dict(row), points=0) for row in spaces),
        )
