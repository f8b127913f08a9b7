"""One worker's transaction: locks slots and pages, reads what is live, replaces it whole (port `Work`)."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple
from uuid import UUID

import asyncpg

from services.ingest.adapters.postgres import sql
from services.ingest.adapters.postgres.links import Relinked, write_links
from services.ingest.adapters.postgres.sources import note_newer_sources, write_sources
from services.ingest.adapters.postgres.vectors import fetch_vectors
from services.ingest.edges import GraphTraits, marks
from services.ingest.ports import NewChunk, NewPage
from services.ingest.shelf import LivePage, Shelf, Slot, StoredChunk
from services.ingest.text.days import page_days
from shared.embedding.embedder import Vector
from shared.postgres.pool import Connection
from shared.vectors.payload import stored_payload


class PostgresWork:
    """Lives as long as its transaction; the ledger opens and commits it."""

    def __init__(
        self, connection: Connection, vault_id: str, file_keys: Collection[str], page_ids: Collection[UUID]
    ) -> None:
        self._connection = connection
        self._vault_id = vault_id
        self._file_keys = set(file_keys)
        self._page_ids = set(page_ids)
        self._before: dict[UUID, tuple[str, str]] = {}
        self.marked = 0
        """Pages around which the commit changes edges."""

    async def shelf(self) -> Shelf:
        """Lock, then read; pages that lie at the slots' paths are locked too, however they came there."""
        return await self._read(*await self._locked_rows())

    async def unlocked_shelf(self) -> Shelf:
        """Read without locks, for those that only look."""
        slots = await self._slots()
        return await self._read(slots, await self._pages(slots))

    async def _read(self, slots: dict[str, Slot], rows: list[asyncpg.Record]) -> Shelf:
        self._before = {row["page_id"]: (row["path"], row["stem"]) for row in rows}
        chunks = await self._chunks()
        version: int | None = await self._connection.fetchval(sql.DATA_VERSION, self._vault_id)
        pages = {row["page_id"]: _live_page(row, chunks.get(row["page_id"], [])) for row in rows}
        return Shelf(slots=slots, pages=pages, data_version=version or 0)

    async def vectors(self, space: str, text_hashes: Collection[str]) -> Mapping[str, Vector]:
        """Return kept vectors by text hash."""
        return await fetch_vectors(self._connection, space, text_hashes)

    async def replace(self, shelf: Shelf, pages: Sequence[NewPage]) -> int:
        """Write slots; drop touched pages and write new ones whole; then, vault locked, settle links and sources."""
        await self._write_slots([shelf.slots[key] for key in sorted(shelf.touched_slots)])
        if not shelf.touched_pages:
            return shelf.data_version
        dropped = await self._connection.fetch(sql.DROP_PAGES, list(shelf.touched_pages))
        await self._copy("pages", sql.PAGE_COLUMNS, [_page_row(self._vault_id, page) for page in pages])
        chunks = [_chunk_row(self._vault_id, page, new) for page in pages for new in page.chunks]
        await self._copy("chunks", sql.CHUNK_COLUMNS, chunks)
        version: int = await self._connection.fetchval(sql.NEXT_DATA_VERSION, self._vault_id)
        relinked = await self._settle(pages, self._relocated_stems(shelf, pages))
        await self._mark({row["page_id"]: _traits_of(row) for row in dropped}, pages, relinked)
        return version

    async def _settle(self, pages: Sequence[NewPage], relocated_stems: Collection[str]) -> Relinked:
        relinked = await write_links(self._connection, self._vault_id, pages, relocated_stems)
        rebased = await write_sources(self._connection, self._vault_id, pages, relocated_stems)
        changed = {new.page.page_id for new in pages} | relinked.pages | rebased
        await note_newer_sources(self._connection, self._vault_id, changed)
        return relinked

    async def _mark(self, before: Mapping[UUID, GraphTraits], pages: Sequence[NewPage], relinked: Relinked) -> None:
        """Leave the edges to the edge keeper; this transaction only says where they may be wrong."""
        after = {new.page.page_id: _traits(new, relinked.targets[new.page.page_id]) for new in pages}
        marked = marks(before, after, relinked.changed)
        self.marked += len(marked)
        if marked:
            await self._connection.execute(sql.MARK_EDGES, self._vault_id, list(marked))

    def _relocated_stems(self, shelf: Shelf, pages: Sequence[NewPage]) -> set[str]:
        """Stems of paths where a page appeared or that it left: links to these may mean another page now."""
        after = {new.page.page_id: (new.page.path, new.prepared.stem) for new in pages}
        return {
            place[1]
            for page_id in shelf.touched_pages
            if self._before.get(page_id) != after.get(page_id)
            for place in (self._before.get(page_id), after.get(page_id))
            if place is not None
        }

    async def _locked_rows(self) -> tuple[dict[str, Slot], list[asyncpg.Record]]:
        """Lock slots and pages at one go, in one order for all workers: locks taken later could meet crosswise.

        A page that came to one of the paths just now is locked later all the same, which is rare; a deadlock that
        comes of it is resolved by the server, and the work done again.
        """
        here = await self._connection.fetch(sql.PAGES_OF_SLOTS, self._vault_id, list(self._file_keys))
        self._page_ids |= {row["page_id"] for row in here}
        while True:
            await self._lock()
            slots = await self._slots()
            rows = await self._pages(slots)
            unlocked = {row["page_id"] for row in rows} - self._page_ids
            if not unlocked:
                return slots, rows
            self._page_ids |= unlocked

    async def _lock(self) -> None:
        names = [f"file {self._vault_id} {key}" for key in self._file_keys] + [f"page {id_}" for id_ in self._page_ids]
        keys = sorted(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True) for name in names)
        await self._connection.execute(sql.LOCK, keys)

    async def _slots(self) -> dict[str, Slot]:
        rows = await self._connection.fetch(sql.SLOTS, self._vault_id, list(self._file_keys))
        return {row["file_key"]: Slot(**dict(row)) for row in rows}

    async def _pages(self, slots: Mapping[str, Slot]) -> list[asyncpg.Record]:
        paths = [slot.path for slot in slots.values()]
        return await self._connection.fetch(sql.PAGES, self._vault_id, list(self._page_ids), paths)

    async def _chunks(self) -> dict[UUID, list[StoredChunk]]:
        chunks: dict[UUID, list[StoredChunk]] = {}
        for row in await self._connection.fetch(sql.CHUNKS, list(self._before)):
            stored = StoredChunk(row["chunk_id"], row["point_hash"], row["text_hash"], row["embedded_in"])
            chunks.setdefault(row["page_id"], []).append(stored)
        return chunks

    async def _write_slots(self, slots: Sequence[Slot]) -> None:
        if not slots:
            return
        columns = [list(column) for column in zip(*(astuple(slot) for slot in slots), strict=True)]
        await self._connection.execute(sql.WRITE_SLOTS, self._vault_id, *columns)

    async def _copy(self, table: str, columns: tuple[str, ...], records: list[tuple[object, ...]]) -> None:
        if records:
            await self._connection.copy_records_to_table(table, columns=columns, records=records)


def _live_page(row: asyncpg.Record, chunks: list[StoredChunk]) -> LivePage:
    return LivePage(
        page_id=row["page_id"],
        path=row["path"],
        disk_path=row["disk_path"],
        revision=row["revision"],
        content_hash=row["content_hash"],
        chunks=tuple(chunks),
    )


def _traits_of(row: asyncpg.Record) -> GraphTraits:
    return GraphTraits(row["stem"], row["page_type"], frozenset(row["sources"]), frozenset(row["targets"] or ()))


def _traits(new: NewPage, targets: frozenset[UUID]) -> GraphTraits:
    prepared = new.prepared
    return GraphTraits(prepared.stem, prepared.page_type, frozenset(prepared.sources), targets)


def _page_row(vault_id: str, new: NewPage) -> tuple[object, ...]:
    page, prepared = new.page, new.prepared
    days = page_days(page.path, prepared.front_matter, page.mtime_ns)
    return (
        page.page_id,
        vault_id,
        page.path,
        page.disk_path,
        prepared.stem,
        page.revision,
        page.content_hash,
        prepared.title,
        prepared.slug,
        prepared.kind,
        prepared.language,
        prepared.page_type,
        prepared.front_matter,
        stored_payload(prepared.fields),
        prepared.sources,
        prepared.problems,
        days.as_of,
        days.written_on,
        days.dated_by_file,
    )


def _chunk_row(vault_id: str, page: NewPage, new: NewChunk) -> tuple[object, ...]:
    chunk, stored = new.chunk, new.stored
    return (
        stored.chunk_id,
        page.page.page_id,
        vault_id,
        chunk.index,
        chunk.content_hash,
        chunk.text_hash,
        stored.point_hash,
        chunk.heading_path,
        chunk.char_start,
        chunk.char_end,
        chunk.line_start,
        chunk.line_end,
        chunk.token_count,
        chunk.text,
        chunk.embed_text,
        stored.embedded_in,
    )
