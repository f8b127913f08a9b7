"""Writes the links of new pages, and settles again those of other pages that a new or gone page changes.

Runs while the vault's row is locked, so that two pages that link to each other and are committed at once are not both
left with a dead link.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import asyncpg

from services.ingest.adapters.postgres import sql
from services.ingest.page import Link
from services.ingest.ports import NewPage
from services.ingest.text.link_resolution import resolve
from shared.postgres.pool import Connection

Candidates = Mapping[str, Sequence[tuple[UUID, str]]]
"""Pages and their paths by stem: what a link may mean."""


@dataclass(frozen=True, slots=True)
class Relinked:
    """What a commit did to links."""

    targets: Mapping[UUID, frozenset[UUID]]
    """Other pages that the links of each new page mean."""
    changed: tuple[tuple[UUID, UUID | None, UUID | None], ...]
    """Links of other pages that changed: page, target before, target after."""

    @property
    def pages(self) -> set[UUID]:
        """The other pages of which a link changed."""
        return {page_id for page_id, _, _ in self.changed}


async def write_links(
    connection: Connection, vault_id: str, pages: Sequence[NewPage], relocated_stems: Collection[str]
) -> Relinked:
    """Write the links of `pages` and update those of other pages whose target's stem is among `relocated_stems`."""
    own = {new.page.page_id for new in pages}
    others = (
        await connection.fetch(sql.LINKS_BY_STEM, vault_id, list(relocated_stems), list(own)) if relocated_stems else []
    )
    stems = {link.target_stem for new in pages for link in new.prepared.links} | {row["target_stem"] for row in others}
    candidates = await pages_by_stem(connection, vault_id, stems)
    rows = {new.page.page_id: _rows(vault_id, new, candidates) for new in pages}
    records = [row for page_rows in rows.values() for row in page_rows]
    if records:
        await connection.copy_records_to_table("links", columns=sql.LINK_COLUMNS, records=records)
    changed = await _update(connection, others, candidates)
    return Relinked({page_id: _targets(page_id, page_rows) for page_id, page_rows in rows.items()}, changed)


async def pages_by_stem(connection: Connection, vault_id: str, stems: Collection[str]) -> Candidates:
    """Return the vault's pages of these stems."""
    candidates: dict[str, list[tuple[UUID, str]]] = {}
    for row in await connection.fetch(sql.PAGES_BY_STEM, vault_id, list(stems)) if stems else []:
        candidates.setdefault(row["stem"], []).append((row["page_id"], row["path"]))
    return candidates


def _targets(page_id: UUID, rows: Sequence[tuple[*tuple[object, ...], UUID | None]]) -> frozenset[UUID]:
    return frozenset(row[-1] for row in rows if row[-1] is not None and row[-1] != page_id)


def _rows(vault_id: str, new: NewPage, candidates: Candidates) -> list[tuple[*tuple[object, ...], UUID | None]]:
    rows: list[tuple[*tuple[object, ...], UUID | None]] = []
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


async def _update(
    connection: Connection, others: Sequence[asyncpg.Record], candidates: Candidates
) -> tuple[tuple[UUID, UUID | None, UUID | None], ...]:
    changed: list[tuple[UUID, int, str, UUID | None]] = []
    ends: list[tuple[UUID, UUID | None, UUID | None]] = []
    for row in others:
        link = Link(row["target"], row["target_stem"], row["fragment"], row["kind"], row["char_start"])
        state, target = _resolved(link, row["page_id"], row["path"], candidates)
        if (state, target) != (row["state"], row["target_page_id"]):
            changed.append((row["page_id"], row["ordinal"], state, target))
            ends.append((row["page_id"], row["target_page_id"], target))
    if changed:
        await connection.execute(sql.UPDATE_LINKS, *(list(column) for column in zip(*changed, strict=True)))
    return tuple(ends)


def _resolved(link: Link, page_id: UUID, path: str, candidates: Candidates) -> tuple[str, UUID | None]:
    if not link.target:
        return "resolved", page_id
    return resolve(link, path, candidates.get(link.target_stem, ()))
