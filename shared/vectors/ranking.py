"""Makes an approximate engine keep the port's word: ties by id, and never fewer hits than there are.

An engine cuts a group of equal scores where it likes, and a graph index under a selective filter may come home with
too few. So each query asks for a few more hits than wanted; one whose cut lies inside a tie asks again for more, and
a dense one that came home short asks again exactly. Nearly every query is settled in the first round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shared.vectors.filter import NOTHING
from shared.vectors.payload import stored_filter
from shared.vectors.store import PointQuery, ScoredPoint, SparseVector

_MARGIN = 8
"""Hits fetched beyond the limit, so that a tie at the cut is seen."""

_GROWTH = 8
"""Factor of the next fetch when the cut lies inside a tie."""

_MAX_TIE = 8_192
"""Hits beyond the limit after which a tie is cut as the engine cuts it: so many equal chunks differ in nothing."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One query to the engine: `fetch` hits, `exact` by comparing with every point."""

    position: int
    query: PointQuery
    fetch: int
    exact: bool = False


class Ranking:
    """The state of one search: ask the engine what `open` says, give the hits to `take`, until `open` is empty."""

    def __init__(self, queries: Sequence[PointQuery]) -> None:
        """Raises InvalidInput when any query filters by a field that has no index, whatever else it asks."""
        simple = [stored_filter(query.where) for query in queries]
        self._hits: list[list[ScoredPoint]] = [[] for _ in queries]
        self.open = [
            Ask(position, query, query.limit + _MARGIN)
            for position, query in enumerate(queries)
            if query.limit > 0 and simple[position] is not NOTHING and not _asks_nothing(query)
        ]

    def take(self, answers: Sequence[Sequence[ScoredPoint]]) -> None:
        """Take one answer per open question, in order; what is not settled stays open, asking for more."""
        asked, self.open = self.open, []
        for ask, answer in zip(asked, answers, strict=True):
            ranked = sorted(answer, key=lambda hit: (-hit.score, hit.id))
            self._hits[ask.position] = ranked[: ask.query.limit]
            following = _next(ask, ranked)
            if following is not None:
                self.open.append(following)

    @property
    def hits(self) -> list[list[ScoredPoint]]:
        """Hits of each query, best first, ties by id."""
        return self._hits


def _asks_nothing(query: PointQuery) -> bool:
    return isinstance(query.vector, SparseVector) and not query.vector.indices


def _next(ask: Ask, ranked: Sequence[ScoredPoint]) -> Ask | None:
    limit = ask.query.limit
    if len(ranked) < limit:
        approximate = not ask.exact and not isinstance(ask.query.vector, SparseVector)
        return replace(ask, exact=True) if approximate else None
    cut_in_tie = len(ranked) >= ask.fetch and ranked[limit - 1].score == ranked[-1].score
    if not cut_in_tie or ask.fetch >= limit + _MAX_TIE:
        return None
    return replace(ask, fetch=min(limit + (ask.fetch - limit) * _GROWTH, limit + _MAX_TIE), exact=True)
