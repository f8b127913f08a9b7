"""Measures of rankings, against values worked out by hand and against what must hold for any ranking."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.evaluation.metrics import hit, ndcg, percentile, recall, reciprocal_rank, separation

DOCUMENTS = [f"d{number}" for number in range(12)]

rankings = st.permutations(DOCUMENTS)
judgements = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([1.0, 2.0, 3.0]), min_size=1)
cutoffs = st.integers(1, 12)


def test_ndcg_weighs_grades_and_ranks() -> None:
    # gained 1/log2(2) + 3/log2(4) = 2.5; ideal 3/log2(2) + 2/log2(3) + 1/log2(4)
    ideal = 3 + 2 / math.log2(3) + 0.5
    assert ndcg(["a", "x", "b"], {"a": 1, "b": 3, "c": 2}, 3) == pytest.approx(2.5 / ideal)


def test_ndcg_looks_no_deeper_than_the_cutoff_in_ranking_and_ideal() -> None:
    assert ndcg(["x", "y", "a"], {"a": 1}, 2) == 0.0
    assert ndcg(["a", "b"], {"a": 1, "b": 1, "c": 1}, 2) == 1.0


def test_a_grade_of_zero_or_less_gains_nothing() -> None:
    assert ndcg(["z", "a"], {"a": 1, "z": 0, "y": -1}, 10) == pytest.approx(1 / math.log2(3))


def test_reciprocal_rank_is_that_of_the_first_relevant_document() -> None:
    assert reciprocal_rank(["x", "a", "b"], {"a", "b"}, 10) == 0.5
    assert reciprocal_rank(["x", "a"], {"a"}, 1) == 0.0
    assert reciprocal_rank([], {"a"}, 10) == 0.0


def test_recall_is_a_share_of_all_that_is_relevant() -> None:
    assert recall(["a", "x", "b"], {"a", "b", "c", "d"}, 2) == 0.25
    assert recall(["a", "x", "b"], {"a", "b", "c", "d"}, 3) == 0.5


def test_a_hit_needs_one_relevant_document() -> None:
    assert (hit(["x", "a"], {"a"}, 1), hit(["x", "a"], {"a"}, 2)) == (0.0, 1.0)


@given(judgements, cutoffs)
def test_the_best_order_has_ndcg_1(grades: dict[str, float], cutoff: int) -> None:
    best = sorted(DOCUMENTS, key=lambda each: -grades.get(each, 0))
    assert ndcg(best, grades, cutoff) == pytest.approx(1)


@given(rankings, judgements, cutoffs)
def test_every_measure_lies_between_0_and_1(ranking: list[str], grades: dict[str, float], cutoff: int) -> None:
    for measure in (ndcg, recall, reciprocal_rank, hit):
        assert 0 <= measure(ranking, grades, cutoff) <= 1 + 1e-12


@given(rankings, judgements, st.data())
def test_moving_a_relevant_document_up_never_lowers_ndcg(
    ranking: list[str], grades: dict[str, float], data: st.DataObject
) -> None:
    place = data.draw(st.integers(1, len(ranking) - 1))
    if grades.get(ranking[place], 0) < grades.get(ranking[place - 1], 0):
        return
    swapped = [*ranking[: place - 1], ranking[place], ranking[place - 1], *ranking[place + 1 :]]
    assert ndcg(swapped, grades, 10) >= ndcg(ranking, grades, 10) - 1e-12


@given(rankings, judgements)
def test_the_order_behind_the_cutoff_and_of_what_is_not_relevant_does_not_matter(
    ranking: list[str], grades: dict[str, float]
) -> None:
    renamed = [each if each in grades else f"other {each}" for each in ranking]
    turned = [*ranking[:5], *reversed(ranking[5:])]
    assert ndcg(renamed, grades, 10) == ndcg(ranking, grades, 10)
    assert ndcg(turned, grades, 5) == ndcg(ranking, grades, 5)
    assert recall(turned, grades, 12) == recall(ranking, grades, 12) == 1


@given(rankings, judgements)
def test_recall_never_falls_with_depth(ranking: list[str], grades: dict[str, float]) -> None:
    found = [recall(ranking, grades, cutoff) for cutoff in range(1, 13)]
    assert found == sorted(found)


def test_separation_counts_pairs_in_the_right_order_and_ties_half() -> None:
    assert separation([0.9, 0.5], [0.5, 0.1]) == pytest.approx(3.5 / 4)
    assert separation([2.0], [1.0]) == 1.0
    assert separation([], [1.0]) is None


def test_a_percentile_is_one_of_the_numbers() -> None:
    assert [percentile([4, 1, 3, 2], each) for each in (50, 75, 99, 0)] == [2, 3, 4, 1]
    assert math.isnan(percentile([], 50))
