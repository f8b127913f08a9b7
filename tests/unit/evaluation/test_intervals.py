"""Bootstrap intervals: where they lie, that they are the same every time, and what pairing gains."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deploy.evaluation.intervals import estimate, estimate_of, paired_difference

numbers = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@given(numbers)
@settings(max_examples=20, deadline=None)
def test_an_interval_lies_within_the_values_and_is_the_same_every_time(values: list[float]) -> None:
    found = estimate(values)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
    assert found.mean == pytest.approx(sum(values) / len(values))
    assert found == estimate(values)


def test_equal_values_leave_no_doubt() -> None:
    found = estimate([0.25] * 8)
    assert (found.low, found.mean, found.high, found.questions) == (0.25, 0.25, 0.25, 8)


def test_the_interval_is_about_as_wide_as_the_normal_approximation() -> None:
    values = [float(number % 2) for number in range(400)]
    found = estimate(values)
    assert found.low == pytest.approx(0.5 - 1.96 * 0.5 / 20, abs=0.01)
    assert found.high == pytest.approx(0.5 + 1.96 * 0.5 / 20, abs=0.01)


def test_more_questions_narrow_the_interval() -> None:
    few, many = (estimate([float(number % 2) for number in range(count)]) for count in (20, 2_000))
    assert few.high - few.low > 5 * (many.high - many.low)


def test_pairing_shows_a_small_difference_that_separate_intervals_hide() -> None:
    noise = random.Random(1)
    worse = {str(number): noise.random() for number in range(100)}
    better = {each: value + 0.02 for each, value in worse.items()}
    difference = paired_difference(better, worse)
    assert difference is not None
    assert difference.excludes_zero
    assert difference.mean == pytest.approx(0.02)
    assert estimate(list(worse.values())).high > estimate(list(better.values())).low


def test_a_difference_is_over_the_questions_that_both_have() -> None:
    difference = paired_difference({"a": 1.0, "b": 0.0, "c": 1.0}, {"a": 0.5, "b": 0.5, "d": 9.0})
    assert difference is not None
    assert (difference.mean, difference.questions, difference.excludes_zero) == (0.0, 2, False)
    assert paired_difference({"a": 1.0}, {"b": 1.0}) is None


def test_there_is_no_mean_of_nothing() -> None:
    with pytest.raises(ValueError, match="no mean"):
        estimate([])


def test_a_figure_that_is_a_mean_has_the_interval_of_a_mean() -> None:
    values = [True, False, True, True, False, True]
    found = estimate_of(lambda rows: float(rows.mean()), np.asarray(values).reshape(-1, 1))
    mean = estimate([float(value) for value in values])
    assert (found.mean, found.low, found.high, found.questions) == (mean.mean, mean.low, mean.high, 6)


def test_there_is_no_figure_of_no_questions() -> None:
    with pytest.raises(ValueError, match="no questions"):
        estimate_of(lambda rows: 0.0, np.zeros((0, 2), dtype=np.bool_))
