"""Writes which pages a page rests on, and notes on each page whether one of these is newer than it.

Sources are the entries of front matter `sources` that name a page, as a wikilink would, and linked pages that are never
cited, such as those under `raw/`. What names no page (a URL, a title, an attachment) has no age here.

Runs while the vault's row is locked, after its links are settled.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from services.ingest.adapters.postgres import sql
from services.ingest.adapters.postgres.links import Candidates, pages_by_stem
from services.ingest.page import Link
from services.ingest.ports import NewPage
from services.ingest.text.link_resolution import resolve
from services.ingest.text.names import page_stem
from shared.postgres.pool import Connection

MAX_SOURCES = 256
"""Of one page; one that names more names everything, and something is always newer."""
_MAX_TARGET_CHARS = 1_000
"""No path is longer, and no such entry means a page."""


async def write_sources(
    connection: Connection, vault_id: str, pages: Sequence[NewPage], relocated_stems: Collection[str]
) -> set[UUID]:
    """Write the sources of `pages`; settle those entries of others that a page at `relocated_stems` changes.

    Returns the other pages that rest on another page now.
    """
    own = {new.page.page_id: _targets(new) for new in pages}
    others = (
        await connection.fetch(sql.SOURCES_BY_STEM, vault_id, list(relocated_stems), list(own))
        if relocated_stems
        else []
    )
    stems = {page_stem(target) for targets in own.values() for target in targets}
    candidates = await pages_by_stem(connection, vault_id, stems | {row["target_stem"] for row in others})
    records = [
        (new.page.page_id, ordinal, vault_id, target, page_stem(target), _source(target, new.page.path, candidates))
        for new in pages
        for ordinal, target in enumerate(own[new.page.page_id])
    ]
    if records:
        await connection.copy_records_to_table("page_sources", columns=sql.SOURCE_COLUMNS, records=records)
    changed = [
        (row["page_id"], row["ordinal"], found)
        for row in others
        if (found := _source(row["target"], row["path"], candidates)) != row["source_page_id"]
    ]
    if changed:
        await connection.execute(sql.UPDATE_SOURCES, *(list(column) for column in zip(*changed, strict=True)))
    return {page_id for page_id, _, _ in changed}


async def note_newer_sources(connection: Connection, vault_id: str, changed: Collection[UUID]) -> None:
    """Compare `changed` pages, and the pages that rest on them, with their sources.

    A page that another worker is replacing at this moment is passed over: that worker waits for the vault, and
    compares it afterwards.
    """
    if changed:
        await connection.execute(sql.NOTE_NEWER_SOURCES, vault_id, list(changed))


def _targets(new: NewPage) -> list[str]:
    """Return what front matter names, without headings, each once."""
    named = (entry.partition("#")[0].strip() for entry in new.prepared.sources)
    return list(dict.fromkeys(each for each in named if each and len(each) <= _MAX_TARGET_CHARS))[:MAX_SOURCES]


def _source(target: str, path: str, candidates: Candidates) -> UUID | None:
    stem = page_stem(target)
    return resolve(Link(target, stem, None, "wikilink", 0), path, candidates.get(stem, ()))[1]
