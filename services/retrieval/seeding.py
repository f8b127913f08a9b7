"""Phase 1: the best k chunks that are live, however many vectors are found that no row backs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from services.retrieval.budget import Candidate
from services.retrieval.ports import LivePages, Snapshot, VaultState
from services.retrieval.retriever import Hit, RetrievalQuery, Retrieved, Retriever

_DEEPER = 4
"""Each further try looks so many times as deep: few tries, and little waste when a few vectors dangle."""


@dataclass(frozen=True, slots=True)
class SeedBounds:
    """How many chunks are looked at."""

    depth: int = 32
    """Of each ranking at first, unless 2 k is more: fusion needs more than k of each, and each costs time."""
    spare: int = 4
    """Hits read beyond k at first: some vectors dangle for a moment after every edit."""
    max_depth: int = 20_000
    """Of each ranking at last; with more dangling vectors than that, a repair is due and the reply is cut short."""


@dataclass(frozen=True, slots=True)
class Seeds:
    """What phase 1 found; all from one snapshot."""

    vault: VaultState
    candidates: tuple[Candidate, ...]
    dangling: int
    """Hits looked at that no live row backs."""
    degraded: str | None
    cut: bool
    """Looking ended at `max_depth`: there may be more."""


async def find_seeds(
    pages: LivePages, retriever: Retriever, vault_id: str, query: RetrievalQuery, bounds: SeedBounds
) -> Seeds:
    """Return the best `query.limit` live chunks that may be cited; fewer only when fewer exist (or `cut`).

    Raises RetryableError when store or catalogue are away, NotFound for an unknown vault.
    """
    k = query.limit
    depth = max(bounds.depth, 2 * k)
    looked_at = k + bounds.spare
    found = await retriever.retrieve(replace(query, limit=depth))
    while True:
        hits = found.hits[:looked_at]
        snapshot = await pages.snapshot(vault_id, [hit.chunk_id for hit in hits])
        candidates = _live(hits, snapshot, k)
        if len(candidates) == k or _nothing_more(found, looked_at) or depth >= bounds.max_depth:
            dangling = sum(hit.chunk_id not in snapshot.chunks for hit in hits)
            cut = len(candidates) < k and not _nothing_more(found, looked_at)
            return Seeds(snapshot.vault, candidates, dangling, found.degraded, cut)
        looked_at *= _DEEPER
        if looked_at > len(found.hits) and not found.exhausted:
            depth = min(max(depth * _DEEPER, looked_at), bounds.max_depth)
            found = await retriever.retrieve(replace(query, limit=depth))


def _nothing_more(found: Retrieved, looked_at: int) -> bool:
    return found.exhausted and looked_at >= len(found.hits)


def _live(hits: Sequence[Hit], snapshot: Snapshot, k: int) -> tuple[Candidate, ...]:
    live: list[Candidate] = []
    for hit in hits:
        chunk = snapshot.chunks.get(hit.chunk_id)
        if chunk is not None and snapshot.vault.cites(chunk.path):
            live.append(Candidate(chunk, hit.score, hit.similarity, "vector"))
            if len(live) == k:
                break
    return tuple(live)


def standings(seeds: Sequence[Candidate]) -> dict[UUID, float]:
    """Return the seeds' pages, best first, each with its best score as a share of the best of all, 0 to 1."""
    best = max((seed.score for seed in seeds), default=0.0)
    found: dict[UUID, float] = {}
    for seed in seeds:
        share = max(0.0, seed.score / best) if best > 0 else 1.0
        found[seed.chunk.page_id] = max(share, found.get(seed.chunk.page_id, 0.0))
    return found
