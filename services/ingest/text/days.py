"""How old a page is, in days: as a page that is kept true, and as a source that others rest on. Pure.

A page says so itself, or its file does. A file's day is weaker: copying or cloning a vault makes every file new. A day
is as written; that of a file is in UTC.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from services.ingest.text.names import page_name
from services.ingest.text.yaml_values import text_of

KEPT_TRUE_FIELDS = ("last_verified", "updated", "date")
"""Front matter that says up to when a page was kept true; the first that is a date counts."""
WRITTEN_FIELDS = ("updated", "date")
"""Front matter that says when a source was written: to verify a source again does not make it newer."""

_DAY_IN_FRONT = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


@dataclass(frozen=True, slots=True)
class PageDays:
    """None: not known."""

    as_of: datetime.date | None
    """Up to when the page was kept true."""
    written_on: datetime.date | None
    """When what it says was written."""
    dated_by_file: bool
    """`written_on` is when the file changed, since the page names no day."""


def page_days(path: str, front_matter: Mapping[str, object], mtime_ns: int) -> PageDays:
    """Return the days of the page at `path`.

    * as_of: front matter `last_verified`, `updated` or `date`; else the file's day.
    * written_on: front matter `updated` or `date`; else the day that the file's name begins with, as notes of meetings
      and logs do (`2025-08-19-recovery.md`); else the file's day.

    `mtime_ns` counts from 1970 UTC; 0 or beyond the calendar: not known.
    """
    of_file = _of_file(mtime_ns)
    written = _first(front_matter, WRITTEN_FIELDS) or _of_name(path)
    return PageDays(
        as_of=_first(front_matter, KEPT_TRUE_FIELDS) or of_file,
        written_on=written or of_file,
        dated_by_file=written is None and of_file is not None,
    )


def _first(front_matter: Mapping[str, object], fields: Sequence[str]) -> datetime.date | None:
    days = (_day(text_of(front_matter.get(field)).strip()) for field in fields)
    return next((day for day in days if day is not None), None)


def _of_name(path: str) -> datetime.date | None:
    return _day(page_name(path))


def _of_file(mtime_ns: int) -> datetime.date | None:
    if mtime_ns == 0:
        return None
    try:
        return (_EPOCH + datetime.timedelta(microseconds=mtime_ns // 1000)).date()
    except OverflowError:
        return None


def _day(text: str) -> datetime.date | None:
    """Return the day that a text begins with, in the one form of ISO 8601 that is no number and no name."""
    match = _DAY_IN_FRONT.match(text)
    try:
        return datetime.date.fromisoformat(match[0]) if match else None
    except ValueError:
        return None
