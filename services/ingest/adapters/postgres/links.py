"""Writes the links of new pages, and settles again those of other pages that a new or gone page changes.

Runs while the vault's row is locked, so that two pages that link to each other and are committed at once are not both
left with a dead link.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

import asyncpg

from services.ingest.adapters.postgres import sql
from services.ingest.page import Link
from services.ingest.ports import NewPage
from services.ingest.text.link_resolution import resolve
from shared.postgres.pool import Connection

_Candidates = Mapping[str, Sequence[tuple[UUID, str]]]


async def write_links(
    connection: Connection, vault_id: str, pages: Sequence[NewPage], relocated_stems: Collection[str]
) -> None:
    """Write the links of `pages` and update those of other pages whose target's stem is among `relocated_stems`."""
    own = {new.page.page_id for new in pages}
    others = (
        await connection.fetch(sql.LINKS_BY_STEM, vault_id, list(relocated_stems), list(own)) if relocated_stems else []
    )
    stems = {link.target_stem for new in pages for link in new.prepared.links} | {row["target_stem"] for row in others}
    candidates = await _candidates(connection, vault_id, stems)
    records = [row for new in pages for row in _rows(vault_id, new, candidates)]
    if records:
        await connection.copy_records_to_table("links", columns=sql.LINK_COLUMNS, records=records)
    await _update(connection, others, candidates)


async def _candidates(connection: Connection, vault_id: str, stems: Collection[str]) -> _Candidates:
    candidates: dict[str, list[tuple[UUID, str]]] = {}
    for row in await connection.fetch(sql.PAGES_BY_STEM, vault_id, list(stems)) if stems else []:
        candidates.setdefault(row["stem"], []).append((row["page_id"], row["path"]))
    return candidates


def _rows(vault_id: str, new: NewPage, candidates: _Candidates) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for ordinal, link in enumerate(new.prepared.links):
        state, target = _resolved(link, new.page.page_id, new.page.path, candidates)
        rows.append(
            (
                new.page.page_id,
                ordinal,
                vault_id,
                link.target,
                link.target_stem,
                link.fragment,
                link.kind,
                link.char_start,
                state,
                target,
            )
        )
    return rows


async def _update(connection: Connection, others: Sequence[asyncpg.Record], candidates: _Candidates) -> None:
    changed: list[tuple[UUID, int, str, UUID | None]] = []
    for row in others:
        link = Link(row["target"], row["target_stem"], row["fragment"], row["kind"], row["char_start"])
        state, target = _resolved(link, row["page_id"], row["path"], candidates)
        if (state, target) != (row["state"], row["target_page_id"]):
            changed.append((row["page_id"], row["ordinal"], state, target))
    if changed:
        await connection.execute(sql.UPDATE_LINKS, *(list(column) for column in zip(*changed, strict=True)))


def _resolved(link: Link, page_id: UUID, path: str, candidates: _Candidates) -> tuple[str, UUID | None]:
    if not link.target:
        return "resolved", page_id
    return resolve(link, path, candidates.get(link.target_stem, ()))
