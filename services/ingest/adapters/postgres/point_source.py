"""Live chunks as points, from rows alone (port `PointSource`)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from uuid import UUID

import asyncpg

from services.ingest.adapters.postgres import sql
from services.ingest.adapters.postgres.vectors import fetch_vectors
from services.ingest.page import PreparedPage
from services.ingest.reconciling import StoredPoint
from services.ingest.text.front_matter import FrontMatter, payload_fields
from services.ingest.text.names import lexical_text
from services.ingest.text.preparation import point_payload
from shared.embedding.embedder import Vector
from shared.postgres.pool import Pool, translated
from shared.vectors.store import Point, SparseVector

_PAGE = 5_000
"""Ids that one query reads."""

_PAGE_COLUMNS = (
    "title", "slug", "stem", "kind", "language", "page_type", "front_matter", "sources", "problems",
)  # fmt: skip


class PostgresPointSource:
    """Reads `chunks`, `pages` and `embeddings`; the pool belongs to the caller."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def live_ids(self) -> AsyncGenerator[UUID]:
        """Yield ids in ascending order, a page at a time."""
        last = UUID(int=0)
        while True:
            with translated("listing live chunks"):
                rows = await self._pool.fetch(sql.LIVE_IDS, last, _PAGE)
            if not rows:
                return
            for row in rows:
                yield UUID(int=row["chunk_id"].int)
            last = rows[-1]["chunk_id"]

    async def points(self, space: str, ids: Sequence[UUID]) -> list[StoredPoint]:
        """Return points of live chunks."""
        with translated("reading chunks"):
            async with self._pool.acquire() as connection:
                rows = await connection.fetch(sql.POINTS, list(ids))
                vectors = await fetch_vectors(connection, space, {row["text_hash"] for row in rows})
        return [_stored(row, vectors.get(row["text_hash"])) for row in rows]

    async def unmark(self, ids: Sequence[UUID]) -> None:
        """Note that points have no vector."""
        if ids:
            with translated("noting missing vectors"):
                await self._pool.execute(sql.UNMARK, list(ids))


def _stored(row: asyncpg.Record, dense: Vector | None) -> StoredPoint:
    lexical = lexical_text(row["path"], row["embed_text"])
    payload = point_payload(_page(row), row["vault_id"], row["page_id"], row["path"])
    return StoredPoint(lexical, row["language"], Point(row["chunk_id"], SparseVector((), ()), payload, dense))


def _page(row: asyncpg.Record) -> PreparedPage:
    fields, _ = payload_fields(FrontMatter(values=row["front_matter"]))
    return PreparedPage(**{name: row[name] for name in _PAGE_COLUMNS}, fields=fields, chunks=(), links=())
