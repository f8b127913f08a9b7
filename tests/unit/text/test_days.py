from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ingest.text.days import page_days
from tests.unit.text.pages import prepare

FILE_DAY = date(2026, 1, 31)
MTIME_NS = int(datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC).timestamp()) * 1_000_000_000


def days(front_matter: str = "", path: str = "wiki/page.md", mtime_ns: int = MTIME_NS) -> tuple[date | None, ...]:
    """Return as_of and written_on of a page whose front matter is read from text."""
    text = f"---\n{front_matter}\n---\nBody\n" if front_matter else "Body\n"
    found = page_days(path, prepare(text, path).front_matter, mtime_ns)
    return found.as_of, found.written_on


@pytest.mark.parametrize(
    ("front_matter", "as_of", "written_on"),
    [
        ("", FILE_DAY, FILE_DAY),
        ("last_verified: 2025-03-01", date(2025, 3, 1), FILE_DAY),
        ("updated: 2025-03-02", date(2025, 3, 2), date(2025, 3, 2)),
        ("date: 2025-03-03", date(2025, 3, 3), date(2025, 3, 3)),
        ("date: 2025-03-03\nupdated: 2025-03-02", date(2025, 3, 2), date(2025, 3, 2)),
        ("last_verified: 2025-03-01\nupdated: 2025-03-02", date(2025, 3, 1), date(2025, 3, 2)),
        ("updated: 2025-03-02T23:30:00+02:00", date(2025, 3, 2), date(2025, 3, 2)),
        ("updated: '2025-03-02'", date(2025, 3, 2), date(2025, 3, 2)),
    ],
)
def test_front_matter_says_the_days_else_the_file_does(front_matter: str, as_of: date, written_on: date) -> None:
    assert days(front_matter) == (as_of, written_on)


@pytest.mark.parametrize(
    "value", ["soon", "2025", "20250302", "2025-W10-1", "2025-02-30", "[2025-03-02]", "", "2025-03-021"]
)
def test_what_is_no_day_is_passed_over(value: str) -> None:
    assert days(f"last_verified: {value}\nupdated: {value}\ndate: 2025-03-03") == (date(2025, 3, 3), date(2025, 3, 3))


def test_a_file_named_after_a_day_was_written_on_it_unless_it_says_another() -> None:
    path = "raw/2025-08-19-recovery.md"
    assert days(path=path) == (FILE_DAY, date(2025, 8, 19))
    assert days("date: 2025-08-20", path=path) == (date(2025, 8, 20), date(2025, 8, 20))
    assert days(path="raw/2025-08-1999.md") == (FILE_DAY, FILE_DAY)
    assert days(path="2025-08-19/notes.md") == (FILE_DAY, FILE_DAY)


def test_only_the_day_of_a_file_is_marked_as_such() -> None:
    assert page_days("raw/notes.md", {}, MTIME_NS).dated_by_file
    assert not page_days("raw/notes.md", {"date": "2025-03-03"}, MTIME_NS).dated_by_file
    assert not page_days("raw/notes.md", {}, 0).dated_by_file


@given(st.integers())
def test_a_file_time_beyond_the_calendar_is_not_known(mtime_ns: int) -> None:
    as_of = page_days("a.md", {}, mtime_ns).as_of
    assert as_of is None or abs((as_of - date(1970, 1, 1)).days - mtime_ns / 86_400e9) <= 1


def test_no_file_time_and_no_front_matter_is_no_day() -> None:
    assert days(mtime_ns=0) == (None, None)
