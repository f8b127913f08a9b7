"""Phase 2 with its reads: walks from the seeds' pages over the page graph and takes from each page its best chunk.

Two reads of the catalogue, whatever the depth: the graph around the seeds, then the chunks.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from services.retrieval.budget import Candidate
from services.retrieval.expansion import STEP_DECAY, Bounds, Reached, walk
from services.retrieval.filters import on_pages
from services.retrieval.ports import Choice, LivePages, Neighbours, Reach, Snapshot, VaultState
from services.retrieval.retriever import Hit, RetrievalQuery, Retriever
from shared.contracts.search import PageRef

_HITS_PER_PAGE = 2
"""Chunks ranked per page reached, so that a long page seldom crowds out the others."""

_REACH = 2
"""Pages reached per page wanted: some are excluded by a filter or never cited."""


@dataclass(frozen=True, slots=True)
class Expansions:
    """What phase 2 found; all from one snapshot, which need not be that of the seeds."""

    vault: VaultState
    candidates: tuple[Candidate, ...]


class Expander:
    """Finds chunks on linked pages with the retriever of phase 1, under the same filter."""

    def __init__(self, pages: LivePages) -> None:
        self._pages = pages

    async def expand(
        self, vault_id: str, retriever: Retriever, query: RetrievalQuery, start: Start, bounds: Bounds
    ) -> Expansions | None:
        """Return at most `bounds.total` chunks, each of another page, strongest page first; None: nothing is linked.

        A page without any hit gives its opening chunk, unless the request filters: then only the store can tell
        whether it passes. Raises RetryableError when store or catalogue are away.
        """
        reach = replace(bounds, total=bounds.total * _REACH) if start.selective else bounds
        around = await self._pages.neighbours(start.pages, _reach(reach))
        reached = walk(around, start.pages, start.hubs, reach)
        if not reached:
            return None
        page_ids = [each.page_id for each in reached]
        limit = _HITS_PER_PAGE * len(page_ids)
        found = await retriever.retrieve(replace(query, where=on_pages(query.where, page_ids), limit=limit, plain=True))
        ranked = [hit.chunk_id for hit in found.hits[:limit]]
        choice = Choice(page_ids, ranked, or_first=not start.filtered, limit=bounds.total)
        snapshot = await self._pages.openings(vault_id, choice)
        return Expansions(snapshot.vault, _candidates(snapshot, reached, found.hits, around))


@dataclass(frozen=True, slots=True)
class Start:
    """Where the walk starts."""

    pages: Mapping[UUID, float]
    """Of the seeds, best first, with their standing: 1 for the best, less as the score of their best seed is less."""
    hubs: Collection[UUID]
    filtered: bool
    """The request has filters of its own."""
    uncited: bool
    """Some pages of the vault are never cited."""

    @property
    def selective(self) -> bool:
        """Some pages reached may be excluded."""
        return self.filtered or self.uncited


def _reach(bounds: Bounds) -> Reach:
    return Reach(bounds.depth, bounds.total, bounds.fan_out, bounds.degree_limit, STEP_DECAY)


def _candidates(
    snapshot: Snapshot, reached: tuple[Reached, ...], hits: tuple[Hit, ...], around: Mapping[UUID, Neighbours]
) -> tuple[Candidate, ...]:
    cosines = {hit.chunk_id: hit.similarity for hit in hits}
    by_page = {chunk.page_id: chunk for chunk in snapshot.chunks.values() if snapshot.vault.cites(chunk.path)}
    return tuple(
        Candidate(chunk, each.weight, cosines.get(chunk.chunk_id), "expansion", _ref(each.via, around[each.via]))
        for each in reached
        if (chunk := by_page.get(each.page_id)) is not None
    )


def _ref(page_id: UUID, page: Neighbours) -> PageRef:
    return PageRef(id=page_id, title=page.title, slug=page.slug)
