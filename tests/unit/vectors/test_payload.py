"""How payload values are kept and compared."""

from __future__ import annotations

import pickle

import pytest

from shared.errors import InvalidInput
from shared.vectors.filter import EVERYTHING, NOTHING, All, AnyOf, FieldExists, FieldIn, FieldRange, Not
from shared.vectors.payload import keyword, stored_filter, stored_payload


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", "a"), ("", ""), (3, "3"), (0.5, "0.5"), (True, "true"), (False, "false"), (None, None), ({"a": 1}, None)],
)
def test_values_are_compared_as_json_writes_them(value: object, text: str | None) -> None:
    assert keyword(value) == text


def test_only_filter_fields_are_kept_as_text() -> None:
    payload = {"level": 3, "tags": ["a", 1, None], "text": "body", "custom": {"n": 1}, "numbers": [1, 2]}
    assert stored_payload(payload) == {
        "level": "3",
        "tags": ["a", "1"],
        "text": "body",
        "custom": {"n": 1},
        "numbers": [1, 2],
    }


def test_absent_values_are_left_out() -> None:
    assert stored_payload({"area": None, "text": None, "kind": "wiki"}) == {"kind": "wiki"}


def test_an_unknown_field_names_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match=r"no filter field 'nope'.*path_prefixes"):
        stored_filter(Not(FieldIn("nope", ())))


def test_a_field_whose_values_have_no_order_is_no_range() -> None:
    with pytest.raises(InvalidInput, match=r"no filter field 'title'.*level, confidence, period, last_verified"):
        stored_filter(All((FieldRange("title", "number", gt=1),)))


def test_an_unknown_field_is_an_error_beside_what_already_decides() -> None:
    with pytest.raises(InvalidInput, match="'nope'"):
        stored_filter(All((NOTHING, AnyOf((EVERYTHING, FieldExists("nope"))))))


def test_excluding_nothing_is_no_condition_but_asking_for_nothing_is() -> None:
    nothing, kind = FieldIn("kind", ()), FieldIn("kind", ("wiki",))
    assert stored_filter(All((kind, Not(nothing)))) == kind
    assert stored_filter(All((kind, nothing))) == NOTHING
    assert stored_filter(AnyOf((kind, Not(nothing)))) == EVERYTHING
    assert stored_filter(AnyOf((kind, nothing))) == kind


def test_groups_of_one_kind_are_one_and_two_negations_none() -> None:
    a, b, c = (FieldIn("kind", (name,)) for name in "abc")
    assert stored_filter(All((All((a, b)), Not(Not(c))))) == All((a, b, c))
    assert stored_filter(AnyOf((AnyOf((a, All((b, c)))), c))) == AnyOf((a, All((b, c)), c))


def test_a_filter_that_was_sent_to_another_process_is_the_same() -> None:
    where = All((FieldIn("kind", ("wiki",)), AnyOf((FieldRange("level", "number", gt=1), Not(FieldExists("area"))))))
    assert pickle.loads(pickle.dumps(where)) == where
    assert stored_filter(pickle.loads(pickle.dumps(NOTHING))) is NOTHING


def test_a_range_keeps_the_tighter_bound_of_each_side_as_engines_look_at_one() -> None:
    assert stored_filter(FieldRange("level", "number", gt=1.0, gte=1.0, lt=3.0, lte=2.0)) == FieldRange(
        "level", "number", gt=1.0, lte=2.0
    )
    assert stored_filter(FieldRange("level", "number", gte=2.0, gt=1.0)) == FieldRange("level", "number", gte=2.0)
