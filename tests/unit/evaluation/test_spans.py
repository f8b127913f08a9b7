"""Characters retrieved against gold characters, by hand and against sets of characters."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.evaluation.spans import Range, Span, merged, score_spans, shared_length

ranges = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)).map(lambda pair: (min(pair), max(pair))))
gold_ranges = ranges.filter(lambda found: any(start < end for start, end in found))


def spans(path: str, *found: Range) -> list[Span]:
    return [Span(path, start, end) for start, end in found]


def characters(found: list[Range]) -> set[int]:
    return {each for start, end in found for each in range(start, end)}


def test_recall_precision_and_iou_of_half_a_hit() -> None:
    scored = score_spans(spans("a", (10, 20)), spans("a", (15, 35)))
    assert (scored.recall, scored.precision, scored.iou) == (0.5, 0.25, pytest.approx(5 / 25))


def test_text_that_is_retrieved_twice_is_paid_for_twice_and_found_once() -> None:
    scored = score_spans(spans("a", (0, 10)), spans("a", (0, 10), (0, 10)))
    assert (scored.recall, scored.precision, scored.iou) == (1.0, 0.5, 0.5)


def test_the_same_place_of_another_file_is_not_found_but_paid_for() -> None:
    scored = score_spans(spans("a", (0, 10)), [*spans("a", (0, 5)), *spans("b", (5, 10))])
    assert (scored.recall, scored.precision) == (0.5, 0.5)


def test_nothing_retrieved_scores_nothing() -> None:
    scored = score_spans(spans("a", (0, 10)), [])
    assert (scored.recall, scored.precision, scored.iou) == (0.0, 0.0, 0.0)


@given(gold_ranges)
def test_the_gold_itself_is_perfect(gold: list[Range]) -> None:
    scored = score_spans(spans("a", *gold), spans("a", *merged(gold)))
    assert (scored.recall, scored.precision, scored.iou) == (1.0, 1.0, 1.0)


@given(gold_ranges, ranges)
def test_measures_are_those_of_sets_of_characters(gold: list[Range], retrieved: list[Range]) -> None:
    scored = score_spans(spans("a", *gold), spans("a", *retrieved))
    wanted, got, paid = characters(gold), characters(retrieved), sum(end - start for start, end in retrieved)
    assert scored.recall == pytest.approx(len(wanted & got) / len(wanted))
    assert scored.precision == pytest.approx(len(wanted & got) / paid if paid else 0)
    assert scored.iou == pytest.approx(len(wanted & got) / (paid + len(wanted - got)))


@given(ranges, ranges)
def test_merging_keeps_the_characters_and_leaves_gaps(first: list[Range], second: list[Range]) -> None:
    joined = merged(first)
    assert characters(joined) == characters(first)
    assert all(before[1] < after[0] for before, after in pairwise(joined))
    assert shared_length(joined, merged(second)) == len(characters(first) & characters(second))
