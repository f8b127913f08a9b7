"""Filters as Qdrant Edge takes them. Pure conversions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import qdrant_edge as engine

from shared.vectors.filter import EVERYTHING, NOTHING, FieldExists, FieldIn, FieldRange, PointFilter
from shared.vectors.payload import clauses, stored_filter, texts

if TYPE_CHECKING:
    from qdrant_edge import ConditionType  # a name for type checkers only

_NEVER = engine.FieldCondition("vault_id", match=engine.MatchAny([]))
"""An empty filter lets everything through, also one with an empty `should`; so nothing needs words of its own."""


def edge_filter(where: PointFilter) -> engine.Filter | None:
    """Return a filter, None for one that lets everything through. Raises InvalidInput for a field without an index."""
    simple = stored_filter(where)
    return None if simple is EVERYTHING else _group(simple)


def _group(where: PointFilter) -> engine.Filter:
    if where is NOTHING:
        return engine.Filter(must=[_NEVER])
    must, should, must_not = clauses(where)
    return engine.Filter(must=_conditions(must), should=_conditions(should), must_not=_conditions(must_not))


def _conditions(parts: Iterable[PointFilter]) -> list[ConditionType] | None:
    return [_condition(part) for part in parts] or None


def _condition(where: PointFilter) -> ConditionType:
    match where:
        case FieldIn(field, values):
            return engine.FieldCondition(field, match=engine.MatchAny(texts(values)))
        case FieldRange():
            bounds = engine.RangeFloat(gt=where.gt, gte=where.gte, lt=where.lt, lte=where.lte)
            return engine.FieldCondition(where.key, range=bounds)
        case FieldExists(field):
            return engine.Filter(must_not=[engine.IsEmptyCondition(field)])
        case _:
            return _group(where)
