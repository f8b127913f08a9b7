"""Phase 2: from the pages that were found to the pages that they are linked with, nearest and strongest first.

A link counts 3.0 in each direction; a step further halves it, and damps it by how many links the page in between has
(as Adamic and Adar weigh common neighbours). So a nearer page never ranks behind a farther one that is no stronger
than the plain link. Pages that only list others are not walked through and weigh little themselves.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from services.retrieval.ports import Neighbours

LINK_WEIGHT = 3.0
"""Of a direct link, per direction: the strongest of the page graph's plain signals (DESIGN §6)."""

STEP_DECAY = 0.5
"""What one more step leaves: a two-way link two steps away weighs at most what a one-way link weighs here."""

HUB_WEIGHT = 0.25
"""What being a list of pages leaves of a page's weight: behind every page with content of its own at that distance."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far the walk goes."""

    depth: int
    """Steps, 0 to 2."""
    total: int
    """Pages reached, at most; the best ones."""
    fan_out: int = 32
    """Pages taken from one page: two-way links first."""
    degree_limit: int = 64
    """A page with more linked pages than this lists others and is not walked through."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A page that the walk came to."""

    page_id: UUID
    weight: float
    depth: int


class ReadNeighbours(Protocol):
    """Reads linked pages, at most `limit` in each direction of each page."""

    async def __call__(self, page_ids: Sequence[UUID], limit: int) -> Mapping[UUID, Neighbours]:
        """Return them by page."""
        ...


async def walk(
    read: ReadNeighbours, seeds: Sequence[UUID], hubs: Collection[UUID], bounds: Bounds
) -> tuple[Reached, ...]:
    """Return the pages within `bounds` of the seeds, best weight first; ties: the nearer, then the better
    seed's, then by id.

    Seeds come best first and are not among what is returned. A page that is reached in several ways counts by its
    best one. One read per step, and none for a step that could add nothing.
    """
    best: dict[UUID, _Way] = {}
    frontier = list(dict.fromkeys(seeds))
    origins = {page_id: rank for rank, page_id in enumerate(frontier)}
    seen = set(frontier)
    for depth in range(1, bounds.depth + 1):
        sources = [page_id for page_id in frontier if page_id not in hubs]
        if not sources or sum(page_id not in hubs for page_id in best) >= bounds.total:
            break
        linked = await read(sources, bounds.degree_limit + 1)
        step = _step(linked, sources, bounds, depth)
        for target, weight, source in step:
            if target in seen:
                continue
            way = _Way(-weight * (HUB_WEIGHT if target in hubs else 1.0), depth, origins[source])
            best[target] = min(best.get(target, way), way)
        frontier = sorted(best.keys() - seen, key=lambda page_id: (best[page_id], page_id))[: bounds.total]
        origins = {page_id: best[page_id].origin for page_id in frontier}
        seen.update(best)
    ranked = sorted(best.items(), key=lambda item: (item[1], item[0]))[: bounds.total]
    return tuple(Reached(page_id, -way.negative_weight, way.depth) for page_id, way in ranked)


@dataclass(frozen=True, slots=True, order=True)
class _Way:
    """How a page was reached; the smaller, the better."""

    negative_weight: float
    depth: int
    origin: int


def _step(
    linked: Mapping[UUID, Neighbours], sources: Sequence[UUID], bounds: Bounds, depth: int
) -> list[tuple[UUID, float, UUID]]:
    """Return (target, weight, source) for the strongest links of each source that is no hub."""
    step: list[tuple[UUID, float, UUID]] = []
    for source in sources:
        neighbours = linked.get(source)
        if neighbours is None:
            continue
        outgoing, incoming = set(neighbours.outgoing), set(neighbours.incoming)
        degree = len(outgoing | incoming)
        if degree > bounds.degree_limit:
            continue
        scale = LINK_WEIGHT if depth == 1 else LINK_WEIGHT * STEP_DECAY ** (depth - 1) / math.log(max(degree, math.e))
        both = sorted(outgoing & incoming)
        one = sorted(outgoing ^ incoming)
        targets = [(target, 2 * scale, source) for target in both] + [(target, scale, source) for target in one]
        step += targets[: bounds.fan_out]
    return step
