"""What counts as a number or a date, and what is kept of them."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.vectors.ranges import RANGE_FIELDS, RANGE_KEYS, instant, number, range_values

DAY = 1735689600.0


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3.0), ("-0.5", -0.5), ("+1", 1.0), (".5", 0.5), ("2.", 2.0), ("1e3", 1000.0), ("1E-2", 0.01)],
)
def test_a_number_is_what_json_or_yaml_writes(text: str, value: float) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    "text", ["", ".", "high", "1,5", "1 000", "0x10", "1_000", "٣", "nan", "inf", "1e999", "2025-01-01", " 1", "1" * 65]
)
def test_another_text_is_no_number(text: str) -> None:
    assert number(text) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2025-01-01", DAY),
        ("2025-01-01T00:00:00Z", DAY),
        ("2025-01-01 01:00+01:00", DAY),
        ("2025-01-01T00:00:00.5", DAY + 0.5),
        ("1969-12-31", -86_400.0),
        ("0001-01-01", -62_135_596_800.0),
        ("0001-01-01T00:00:00+23:59", -62_135_596_800.0 - 86_340.0),
        ("9999-12-31T23:59:59-23:59", 253_402_300_799.0 + 86_340.0),
    ],
)
def test_a_date_is_its_first_moment_in_utc_unless_it_says_otherwise(text: str, seconds: float) -> None:
    assert instant(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "2025", "2025-01", "2025-02-30", "20250101", "2025-W01-1", "2025-01-01T25:00", "soon"]
)
def test_another_text_is_no_date(text: str) -> None:
    assert instant(text) is None


@given(st.datetimes(), st.datetimes())
def test_dates_keep_their_order(one: datetime, other: datetime) -> None:
    early, late = (instant(moment.isoformat()) for moment in sorted((one, other)))
    assert early is not None
    assert late is not None
    assert early <= late


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_is_kept_as_it_is(value: float) -> None:
    assert range_values({"confidence": value}) == {"confidence_number": value}


def test_only_what_has_an_order_is_kept_and_years_are_no_dates() -> None:
    assert range_values({"level": "3", "period": "2024", "last_verified": "2025-01-01", "area": "7"}) == {
        "level_number": 3.0,
        "period_number": 2024.0,
        "last_verified_date": DAY,
    }
    assert range_values({"level": "high", "confidence": None, "period": True}) == {}


def test_of_a_list_all_numbers_and_all_dates_are_kept() -> None:
    assert range_values({"period": ["2024", "2025-01-01", "soon", 3]}) == {
        "period_number": [2024.0, 3.0],
        "period_date": [DAY],
    }


def test_every_key_that_may_be_kept_is_indexed() -> None:
    kept = range_values({field: ["1", "2025-01-01"] for field in RANGE_FIELDS})
    assert set(kept) == set(RANGE_KEYS)
