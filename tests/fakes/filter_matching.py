"""What a filter means, evaluated in plain Python: what all stores are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from shared.vectors.filter import All, AnyOf, FieldExists, FieldIn, FieldRange, Not, PointFilter
from shared.vectors.payload import keyword, stored_filter


def matches(payload: Mapping[str, object], where: PointFilter) -> bool:
    """Return whether a payload as stored is what a filter asks for. Raises InvalidInput as a store does."""
    stored_filter(where)
    return _matches(payload, where)


def _matches(payload: Mapping[str, object], where: PointFilter) -> bool:
    match where:
        case All(parts):
            return all(_matches(payload, part) for part in parts)
        case AnyOf(parts):
            return any(_matches(payload, part) for part in parts)
        case Not(part):
            return not _matches(payload, part)
        case FieldIn(field, values):
            wanted = {keyword(value) for value in values}
            return any(keyword(value) in wanted for value in _values(payload, field))
        case FieldExists(field):
            return bool(_values(payload, field))
        case FieldRange():
            return any(_within(cast("float", value), where) for value in _values(payload, where.key))


def _values(payload: Mapping[str, object], key: str) -> list[object]:
    value = payload.get(key)
    if isinstance(value, list):
        return cast("list[object]", value)
    return [] if value is None else [value]


def _within(value: float, bounds: FieldRange) -> bool:
    return (
        (bounds.gt is None or value > bounds.gt)
        and (bounds.gte is None or value >= bounds.gte)
        and (bounds.lt is None or value < bounds.lt)
        and (bounds.lte is None or value <= bounds.lte)
    )
