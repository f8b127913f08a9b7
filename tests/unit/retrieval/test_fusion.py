from __future__ import annotations

import random
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from services.retrieval.retrievers.fusion import fuse, place_score, reasons

RANKING = st.lists(st.integers(1, 12), unique=True, max_size=8)
RANKINGS = st.lists(RANKING, min_size=1, max_size=4)
WEIGHT = st.floats(0.01, 100)


def ids(*numbers: int) -> list[UUID]:
    return [UUID(int=number) for number in numbers]


def order(fused: list[tuple[UUID, float]]) -> list[int]:
    return [chunk_id.int for chunk_id, _ in fused]


def test_fusion_adds_up_the_reciprocal_of_the_ranks() -> None:
    fused = fuse([ids(1, 2), ids(2, 3)], (1.0, 1.0), k=60)

    assert [(each.int, score) for each, score in fused] == [(2, 1 / 62 + 1 / 61), (1, 1 / 61), (3, 1 / 62)]


def test_a_weight_makes_a_ranking_count_more() -> None:
    assert order(fuse([ids(1), ids(2)], (1.0, 2.0))) == [2, 1]


@given(RANKINGS)
def test_fusion_holds_each_id_once_best_first_and_breaks_ties_by_id(rankings: list[list[int]]) -> None:
    fused = fuse([ids(*ranking) for ranking in rankings], [1.0] * len(rankings))

    assert sorted(order(fused)) == sorted(set().union(*rankings))
    assert fused == sorted(fused, key=lambda item: (-item[1], item[0]))


@given(RANKING, st.integers(1, 4), WEIGHT)
def test_a_ranking_fused_with_itself_keeps_its_order(ranking: list[int], times: int, weight: float) -> None:
    assert order(fuse([ids(*ranking)] * times, [weight] * times)) == ranking


@given(RANKINGS, st.randoms(use_true_random=False), WEIGHT)
def test_the_order_of_rankings_and_the_scale_of_weights_do_not_matter(
    rankings: list[list[int]], shuffle: random.Random, weight: float
) -> None:
    shuffled = list(rankings)
    shuffle.shuffle(shuffled)
    one = dict(fuse([ids(*ranking) for ranking in rankings], [1.0] * len(rankings)))
    other = dict(fuse([ids(*ranking) for ranking in shuffled], [weight] * len(rankings)))

    assert one.keys() == other.keys()
    assert all(abs(other[each] - weight * score) <= 1e-9 * weight for each, score in one.items())


@given(RANKING, RANKING, st.integers(1, 12))
def test_what_rises_in_one_ranking_does_not_fall_in_the_fusion(first: list[int], second: list[int], one: int) -> None:
    fixed = [number for number in second if number != one]
    before = order(fuse([ids(*first), ids(*fixed, one)], (1.0, 1.0))).index(one)
    after = order(fuse([ids(*first), ids(one, *fixed)], (1.0, 1.0))).index(one)

    assert after <= before


def test_no_ranking_and_no_hit_fuse_to_nothing() -> None:
    assert fuse([], ()) == fuse([[], []], (1.0, 1.0)) == []


def test_scores_of_places_fall() -> None:
    scores = [place_score(place) for place in range(1, 200)]

    assert scores == sorted(set(scores), reverse=True)


def test_a_reason_is_said_once_and_none_is_none() -> None:
    assert reasons("A is away.", None, "B is away.", "A is away.") == "A is away. B is away."
    assert reasons(None, None) is None
