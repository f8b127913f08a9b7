"""Phase 2: from the pages that were found to the pages around them in the page graph, strongest first. Pure.

One step weighs what the edge does. Two steps weigh half of the weaker of their edges: a chain holds what its weakest
part holds. So a page never ranks before the one that it was reached through, and a farther page ranks before a nearer
one only where both its edges are more than twice as strong. A page stands as well as the seed that led to it: what is
next to a hit that is hardly one comes behind what is next to the best. Pages that only list others are not walked
through and weigh little themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from services.retrieval.ports import Neighbours
from shared.page_graph import DEGREE_LIMIT

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
    degree_limit: int = DEGREE_LIMIT
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

    negative_rank: float
    """Of the weight, times the standing of the seed."""
    depth: int
    origin: int
    """Place of the seed that it begins at."""
    via: UUID
    weight: float


def walk(
    around: Mapping[UUID, Neighbours], seeds: Mapping[UUID, float], hubs: Collection[UUID], bounds: Bounds
) -> tuple[Reached, ...]:
    """Return the pages within `bounds` of the seeds, best first; ties: the nearer, then the better seed's, then by id.

    `seeds` are pages with their standing, 0 to 1, best first; they are not among what is returned. `around` holds the
    neighbours of the seeds and of pages next to them; who is not in it is not walked through. A page that is reached in
    several ways counts by its best one.
    """
    ways: dict[UUID, _Way] = {}
    standings = list(seeds.values())
    if bounds.depth > 0:
        for place, (seed, standing) in enumerate(seeds.items()):
            for target, weight in _linked(around, seed, hubs, bounds):
                _offer(ways, target, _Way(-weight * standing, 1, place, seed, weight), seeds)
    if bounds.depth > 1:
        for between, way in list(ways.items()):
            for target, weight in _linked(around, between, hubs, bounds):
                weaker = STEP_DECAY * min(weight, way.weight)
                rank = -weaker * standings[way.origin]
                _offer(ways, target, _Way(rank, 2, way.origin, between, weaker), seeds)
    reached = (_damped(page_id, way, hubs) for page_id, way in ways.items())
    ranked = sorted(reached, key=lambda item: (item[1], item[0]))[: bounds.total]
    return tuple(Reached(page_id, way.weight, way.depth, way.via) for page_id, way in ranked)


def _linked(
    around: Mapping[UUID, Neighbours], page_id: UUID, hubs: Collection[UUID], bounds: Bounds
) -> Sequence[tuple[UUID, float]]:
    neighbours = around.get(page_id)
    return () if neighbours is None or page_id in hubs else neighbours.linked[: bounds.fan_out]


def _offer(ways: dict[UUID, _Way], target: UUID, way: _Way, seeds: Collection[UUID]) -> None:
    """Keep, for each page but the seeds, its best way."""
    known = ways.get(target)
    if target not in seeds and (known is None or way < known):
        ways[target] = way


def _damped(page_id: UUID, way: _Way, hubs: Collection[UUID]) -> tuple[UUID, _Way]:
    if page_id not in hubs:
        return page_id, way
    return page_id, replace(way, negative_rank=way.negative_rank * HUB_WEIGHT, weight=way.weight * HUB_WEIGHT)
