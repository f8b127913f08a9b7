"""The page graph's rules: what connects two pages and how strongly, and which pages a change marks. Pure.

    weight(a, b) = 3.0 × link directions + 4.0 × shared sources + 1.5 × Σ 1/ln(max(degree(z), 2)) over common
                   neighbours z + 1.0 × affinity of their types, where one of the other signals connects them

Four signals as in DESIGN §6; the third is Adamic and Adar's ("Friends and neighbors on the Web", 2003). A page's degree
is the number of distinct pages that it is linked with, either direction. Damped, so that what one edit costs does not
grow with the vault: hubs (pages above `degree_limit`, and generated ones) have no edges and are no common neighbours;
a source that more than `source_limit` pages name connects none of them (ADR 0010).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from shared.page_graph import DEGREE_LIMIT, GENERATED_STEMS

SOURCE_WEIGHT = 4.0
COMMON_WEIGHT = 1.5
AFFINITY_WEIGHT = 1.0

MAX_SOURCES = 256
"""Entries of `sources` that count, of one page."""

RULES_VERSION = 1
"""Raised when the same pages would give other edges: all edges are then computed anew."""

_OTHERWISE = 1.0
_AFFINITIES = {
    ("entity", "concept"): 1.2,
    ("concept", "synthesis"): 1.2,
    ("entity", "entity"): 0.8,
    ("concept", "concept"): 0.8,
    ("synthesis", "synthesis"): 0.8,
    ("entity", "query"): 0.8,
    ("source", "source"): 0.5,
    ("query", "query"): 0.5,
}
_TYPES = ("entity", "concept", "synthesis", "source", "query")


def affinity(one: str | None, other: str | None) -> float:
    """Return how well two front matter types go together, whatever their order; 0 with an unknown one."""
    if one not in _TYPES or other not in _TYPES:
        return 0.0
    return _AFFINITIES.get((one, other), _AFFINITIES.get((other, one), _OTHERWISE))


def affinities() -> list[tuple[str, str, float]]:
    """Return every pair of known types, in both orders, with its affinity."""
    return [(one, other, affinity(one, other)) for one in _TYPES for other in _TYPES]


@dataclass(frozen=True, slots=True)
class EdgeRules:
    """The limits that damp the graph."""

    degree_limit: int = DEGREE_LIMIT
    source_limit: int = 64
    generated_stems: tuple[str, ...] = GENERATED_STEMS

    def fingerprint(self) -> str:
        """Return what changes when edges computed by other rules would differ."""
        stems = ",".join(sorted(self.generated_stems))
        return f"v{RULES_VERSION} degree {self.degree_limit} sources {self.source_limit} stems {stems}"


@dataclass(frozen=True, slots=True)
class GraphTraits:
    """All of a page that its edges depend on."""

    stem: str
    page_type: str | None
    sources: frozenset[str]
    targets: frozenset[UUID]
    """Other pages that its resolved links mean."""


def marks(
    before: Mapping[UUID, GraphTraits],
    after: Mapping[UUID, GraphTraits],
    relinked: Iterable[tuple[UUID, UUID | None, UUID | None]],
) -> set[UUID]:
    """Return the pages around which a commit changes edges; none when only text changed.

    `before` and `after` hold the pages that the commit replaces, as they were and are; a page that came or went is in
    one of them. `relinked` are links of other pages: (page, target before, target after). Both ends of every link that
    came or went are marked: the degree of both changes.
    """
    marked: set[UUID] = set()
    for page_id in before.keys() | after.keys():
        old, new = before.get(page_id), after.get(page_id)
        if old != new:
            marked.add(page_id)
            marked |= (old.targets if old else frozenset()) ^ (new.targets if new else frozenset())
    for page_id, old_target, new_target in relinked:
        if old_target != new_target:
            marked |= {each for each in (page_id, old_target, new_target) if each is not None}
    return marked
