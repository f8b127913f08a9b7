"""Phase 2: from the pages that were found to the pages around them in the page graph, strongest first. Pure.

One step weighs what the edge does. Two steps weigh half of the weaker of their edges: a chain holds what its weakest
part holds. So a page never ranks before the one that it was reached through, and a farther page ranks before a nearer
one only where both its edges are more than twice as strong. Pages that only list others are not walked through and
weigh little themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from services.retrieval.ports import Neighbours

STEP_DECAY = 0.5
"""What one more step leaves: a link both ways two steps away weighs as much as a link one way does here."""

HUB_WEIGHT = 0.25
"""What being a list of pages leaves of a page's weight: behind every page that is linked as well and has content."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far the walk goes."""

    depth: int
    """Steps, 0 to 2."""
    total: int
    """Pages reached, at most; the best ones."""
    fan_out: int = 32
    """Pages taken from one page: those of the strongest edges."""
    degree_limit: int = 64
    """A page with more linked pages than this lists others and is not walked through."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A page that the walk came to."""

    page_id: UUID
    weight: float
    depth: int
    via: UUID
    """The page that its edge comes from: a seed, or a page one step from it."""


@dataclass(frozen=True, slots=True, order=True)
class _Way:
    """How a page was reached; the smaller, the better."""

    negative_weight: float
    depth: int
    origin: int
    """Rank of the seed that it begins at."""
    via: UUID


def walk(
    around: Mapping[UUID, Neighbours], seeds: Sequence[UUID], hubs: Collection[UUID], bounds: Bounds
) -> tuple[Reached, ...]:
    """Return the pages within `bounds` of the seeds, best weight first; ties: the nearer, then the better
    seed's, then by id.

    `around` holds the neighbours of the seeds and of pages next to them; who is not in it is not walked through. Seeds
    come best first and are not among what is returned. A page that is reached in several ways counts by its best one.
    """
    origins = {page_id: rank for rank, page_id in enumerate(dict.fromkeys(seeds))}
    ways: dict[UUID, _Way] = {}
    if bounds.depth > 0:
        for seed, rank in origins.items():
            _offer(ways, _linked(around, seed, hubs, bounds), _Way(0.0, 1, rank, seed), origins)
    if bounds.depth > 1:
        for between, way in list(ways.items()):
            weaker = (
                (target, STEP_DECAY * min(weight, -way.negative_weight))
                for target, weight in _linked(around, between, hubs, bounds)
            )
            _offer(ways, weaker, _Way(0.0, 2, way.origin, between), origins)
    reached = (_damped(page_id, way, hubs) for page_id, way in ways.items())
    ranked = sorted(reached, key=lambda item: (item[1], item[0]))[: bounds.total]
    return tuple(Reached(page_id, -way.negative_weight, way.depth, way.via) for page_id, way in ranked)


def _linked(
    around: Mapping[UUID, Neighbours], page_id: UUID, hubs: Collection[UUID], bounds: Bounds
) -> Sequence[tuple[UUID, float]]:
    neighbours = around.get(page_id)
    return () if neighbours is None or page_id in hubs else neighbours.linked[: bounds.fan_out]


def _offer(ways: dict[UUID, _Way], linked: Iterable[tuple[UUID, float]], like: _Way, seeds: Collection[UUID]) -> None:
    """Keep, for each page but the seeds, its best way."""
    for target, weight in linked:
        if target in seeds:
            continue
        way = _Way(-weight, like.depth, like.origin, like.via)
        known = ways.get(target)
        if known is None or way < known:
            ways[target] = way


def _damped(page_id: UUID, way: _Way, hubs: Collection[UUID]) -> tuple[UUID, _Way]:
    if page_id not in hubs:
        return page_id, way
    return page_id, _Way(way.negative_weight * HUB_WEIGHT, way.depth, way.origin, way.via)
