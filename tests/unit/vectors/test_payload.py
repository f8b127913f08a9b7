"""How payload values are kept and compared."""

from __future__ import annotations

import pytest

from shared.errors import InvalidInput
from shared.vectors.payload import keyword, stored_filter, stored_payload
from shared.vectors.store import FieldIn, PointFilter


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
        stored_filter(PointFilter(must_not=(FieldIn("nope", ()),)))


def test_excluding_nothing_is_no_condition_but_asking_for_nothing_is() -> None:
    where = PointFilter(must=(FieldIn("kind", ()),), must_not=(FieldIn("kind", ()),))
    assert stored_filter(where) == ([("kind", [])], [])
