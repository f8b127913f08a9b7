"""Numbers and dates that ranges compare: what a value of a payload field means, and under which key it is kept.

Fields are kept as text, so what has an order is kept a second time, as a number under a key of its own, only where
there is something to keep: `confidence: "0.8"` gives `confidence_number: 0.8`, `last_verified: "2025-01-01"` gives
`last_verified_date: 1735689600.0`. Two keys, so that a year is never taken for a date.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal, cast

Kind = Literal["number", "date"]

RANGE_FIELDS = ("level", "confidence", "period", "last_verified")
"""Payload fields that a range may name: those whose values have an order in practice."""

_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ].+)?")
_MAX_CHARS = 64
"""A longer text is neither a number nor a date that anybody meant."""


def range_key(field: str, kind: Kind) -> str:
    """Return the payload key of a field's numbers or dates."""
    return f"{field}_{kind}"


RANGE_KEYS = tuple(range_key(field, kind) for field in RANGE_FIELDS for kind in ("number", "date"))
"""Keys that hold numbers; each has a number index."""


def number(text: str) -> float | None:
    """Return the finite number that a text is, as JSON or YAML would write it; else None."""
    if len(text) > _MAX_CHARS or not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def instant(text: str) -> float | None:
    """Return the seconds since 1970 in UTC of an ISO 8601 date or date and time; None for any other text.

    A day is its first moment; a time without an offset is in UTC.
    """
    if len(text) > _MAX_CHARS or not _DATE.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def range_values(fields: Mapping[str, object]) -> dict[str, object]:
    """Return what is to be kept of the fields' numbers and dates beside them; empty where there are none.

    A list of values gives a list, in order, of those that are numbers or dates.
    """
    kept: dict[str, object] = {}
    for field in RANGE_FIELDS:
        value = fields.get(field)
        if value is None:
            continue
        entries = cast("list[object]", value) if isinstance(value, list) else [value]
        for kind in ("number", "date"):
            found = [found for entry in entries if (found := _ordered(entry, kind)) is not None]
            if found:
                kept[range_key(field, kind)] = found if isinstance(value, list) else found[0]
    return kept


def _ordered(value: object, kind: Kind) -> float | None:
    if isinstance(value, str):
        return number(value) if kind == "number" else instant(value)
    if kind == "date" or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return number(repr(value))
