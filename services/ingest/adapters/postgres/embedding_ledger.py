"""What the embedding stage reads and writes in Postgres (port `EmbeddingLedger`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from services.ingest.adapters.postgres import sql
from services.ingest.adapters.postgres.vectors import from_bytes, to_bytes
from services.ingest.ports import WaitingText
from shared.contracts.embed import ChunkText
from shared.contracts.pages import PageEmbedded, PageEvent
from shared.embedding.embedder import Vector
from shared.postgres.pool import Pool, translated


class PostgresEmbeddingLedger:
    """Rows of `embeddings`, and the mark on chunks whose point has its vector; the pool belongs to the caller."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def needed(self, space: str, text_hashes: Collection[str]) -> tuple[list[WaitingText], dict[str, Vector]]:
        """Return live chunks with these texts that lack the space's vector, and the vectors made before."""
        with translated("looking for chunks to embed"):
            rows = await self._pool.fetch(sql.NEEDED, space, list(text_hashes))
        known = {row["text_hash"]: from_bytes(row["vector"]) for row in rows if row["vector"] is not None}
        return [WaitingText(row["chunk_id"], row["text_hash"]) for row in rows], known

    async def keep(self, space: str, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors; one that is there already stays."""
        ordered = sorted(vectors.items())  # one lock order for all embedders
        with translated("keeping vectors"):
            await self._pool.execute(
                sql.KEEP_VECTORS, space, [text for text, _ in ordered], [to_bytes(vector) for _, vector in ordered]
            )

    async def mark(self, space: str, chunks: Sequence[WaitingText]) -> list[PageEvent]:
        """Mark chunks that still have their text; return what became complete."""
        ordered = sorted(chunks, key=lambda chunk: chunk.chunk_id)
        with translated("marking embedded chunks"):
            async with self._pool.acquire() as connection:
                marked = await connection.fetch(
                    sql.MARK, space, [c.chunk_id for c in ordered], [c.text_hash for c in ordered]
                )
                # after the commit: of two embedders that finish one page at once, at least one sees it complete
                complete = await connection.fetch(sql.COMPLETE, space, list({row["page_id"] for row in marked}))
        return [PageEmbedded(**dict(row), space=space) for row in complete]

    async def missing(self, space: str, after: UUID | None, limit: int) -> list[tuple[UUID, ChunkText]]:
        """Return texts that lack a vector, by chunk id."""
        with translated("looking for texts to embed"):
            rows = await self._pool.fetch(sql.MISSING, space, after, limit)
        return [
            (row["chunk_id"], ChunkText(space=space, text_hash=row["text_hash"], text=row["embed_text"]))
            for row in rows
        ]

    async def prune(self, days: int) -> int:
        """Drop vectors that no live chunk has used and that are older than `days`; return how many."""
        with translated("pruning vectors"):
            tag = await self._pool.execute(sql.PRUNE_VECTORS, days)
        return int(tag.rpartition(" ")[2])
