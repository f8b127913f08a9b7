"""An engine that cuts ties where it likes and comes home short is made exact."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shared.vectors.filter import FieldIn
from shared.vectors.ranking import Ask, Ranking
from shared.vectors.store import PointQuery, ScoredPoint, SparseVector

DENSE = np.ones(2, dtype=np.float32)
WORDS = SparseVector((1,), (1.0,))


def run(points: Sequence[ScoredPoint], query: PointQuery, lost: int = 0) -> tuple[list[ScoredPoint], list[Ask]]:
    """Answer from points as an engine would: best first, ties backwards, `lost` of them missed unless exact."""
    ranking, asked = Ranking([query]), list[Ask]()
    while ranking.open:
        [ask] = ranking.open
        asked.append(ask)
        ordered = sorted(points, key=lambda hit: (-hit.score, -hit.id.int))
        ranking.take([ordered[0 if ask.exact else lost : ask.fetch]])
    return ranking.hits[0], asked


def hits(*scores: float) -> list[ScoredPoint]:
    return [ScoredPoint(UUID(int=id), score) for id, score in enumerate(scores)]


@given(
    st.lists(st.sampled_from([0.1, 0.2, 0.3]), max_size=200).map(lambda scores: hits(*scores)),
    st.integers(min_value=0, max_value=60),
    st.sampled_from([DENSE, WORDS]),
)
def test_ties_are_cut_by_id_however_the_engine_cuts_them(
    points: list[ScoredPoint], limit: int, vector: SparseVector
) -> None:
    found, _ = run(points, PointQuery(vector, limit))
    assert found == sorted(points, key=lambda hit: (-hit.score, hit.id))[:limit]


def test_one_round_is_enough_without_a_tie_at_the_cut() -> None:
    _, asked = run(hits(*(float(score) for score in range(100))), PointQuery(DENSE, 10))
    assert [ask.exact for ask in asked] == [False]


def test_a_dense_query_that_comes_home_short_is_asked_again_exactly() -> None:
    points = hits(3.0, 2.0, 1.0)
    found, asked = run(points, PointQuery(DENSE, 3), lost=1)
    assert found == points
    assert [ask.exact for ask in asked] == [False, True]


def test_words_are_never_missed_so_nobody_asks_twice() -> None:
    _, asked = run(hits(3.0), PointQuery(WORDS, 3))
    assert len(asked) == 1


def test_what_can_have_no_hits_is_not_asked() -> None:
    nothing = FieldIn("kind", ())
    ranking = Ranking([PointQuery(DENSE, 0), PointQuery(SparseVector((), ()), 5), PointQuery(DENSE, 5, nothing)])
    assert ranking.open == []
    assert ranking.hits == [[], [], []]


def test_an_endless_tie_is_given_up() -> None:
    found, asked = run(hits(*[1.0] * 20_000), PointQuery(WORDS, 10))
    assert len(found) == 10
    assert asked[-1].fetch < 10_000
