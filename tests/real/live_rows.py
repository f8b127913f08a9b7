"""Rows of a catalogue as the in-memory one describes them, written to a real database."""

from __future__ import annotations

from services.retrieval.ports import NewerSource
from shared.ids import page_id
from shared.postgres.pool import Pool
from tests.fakes.in_memory_live_pages import SPACE, PageRow


async def fill(pool: Pool, vaults: dict[str, list[PageRow]]) -> None:
    """Write what the fake would hold."""
    await pool.execute(
        "INSERT INTO spaces (name, model, dimension, chunker_version, live) VALUES ($1, 'hashing', 256, 1, true)", SPACE
    )
    for vault_id, rows in vaults.items():
        await pool.execute("INSERT INTO vaults VALUES ($1, $2, 1)", vault_id, {"never_cite": ["raw/"]})
        for row in rows:
            await _add_page(pool, row)
        for row in rows:
            if row.newer_source:
                await _add_newer_source(pool, row, row.newer_source)


async def _add_page(pool: Pool, row: PageRow) -> None:
    await pool.execute(
        "INSERT INTO pages (page_id, vault_id, path, disk_path, revision, content_hash, stem, title, slug, kind,"
        " language, front_matter) VALUES ($1, $2, $3, $3, $4, 'hash', $5, $6, $5, 'wiki', $7, '{}')",
        row.id, row.vault_id, row.path, row.revision, row.stem, row.title or row.stem, row.language,
    )  # fmt: skip
    if row.born_at:
        await pool.execute(
            "INSERT INTO files (vault_id, file_key, path, disk_path, revision, state, page_id, config_hash)"
            " VALUES ($1, 'key', $2, $2, 1, 'removed', $3, 'hash')",
            row.vault_id, row.born_at, row.id,
        )  # fmt: skip
    for chunk in row.chunks():
        await pool.execute(
            "INSERT INTO chunks VALUES ($1, $2, $3, $4, $5, $5, $5, $6, $7, $8, $9, $10, $11, $12, $12)",
            chunk.chunk_id, row.id, row.vault_id, chunk.index, chunk.content_hash, list(chunk.heading_path),
            chunk.char_start, chunk.char_end, chunk.line_start, chunk.line_end, chunk.token_count, chunk.text,
        )  # fmt: skip
    for ordinal, target in enumerate(row.links):
        await pool.execute(
            "INSERT INTO links VALUES ($1, $2, $3, $4, 'stem', NULL, 'wikilink', 0, 'resolved', $5)",
            row.id, ordinal, row.vault_id, target, page_id(row.vault_id, target),
        )  # fmt: skip


async def _add_newer_source(pool: Pool, row: PageRow, newer: NewerSource) -> None:
    source = await pool.fetchval(
        "UPDATE pages SET written_on = $3, dated_by_file = $4 WHERE vault_id = $1 AND path = $2 RETURNING page_id",
        row.vault_id, newer.path, newer.written_on, newer.by_file,
    )  # fmt: skip
    await pool.execute(
        "UPDATE pages SET as_of = $2, newer_source = $3 WHERE page_id = $1", row.id, newer.page_as_of, source
    )
