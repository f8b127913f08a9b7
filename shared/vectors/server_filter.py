"""Filters as a Qdrant server's client takes them. Pure conversions."""

from __future__ import annotations

from collections.abc import Iterable

from qdrant_client import models

from shared.vectors.filter import EVERYTHING, NOTHING, FieldExists, FieldIn, FieldRange, PointFilter
from shared.vectors.payload import clauses, stored_filter, texts

_NEVER = models.FieldCondition(key="vault_id", match=models.MatchAny(any=[]))
"""An empty filter lets everything through, also one with an empty `should`; so nothing needs words of its own."""


def to_filter(where: PointFilter) -> models.Filter | None:
    """Return a filter, None for one that lets everything through. Raises InvalidInput for a field without an index."""
    simple = stored_filter(where)
    return None if simple is EVERYTHING else _group(simple)


def _group(where: PointFilter) -> models.Filter:
    if where is NOTHING:
        return models.Filter(must=[_NEVER])
    must, should, must_not = clauses(where)
    return models.Filter(must=_conditions(must), should=_conditions(should), must_not=_conditions(must_not))


def _conditions(parts: Iterable[PointFilter]) -> list[models.Condition] | None:
    return [_condition(part) for part in parts] or None


def _condition(where: PointFilter) -> models.Condition:
    match where:
        case FieldIn(field, values):
            return models.FieldCondition(key=field, match=models.MatchAny(any=texts(values)))
        case FieldRange():
            bounds = models.Range(gt=where.gt, gte=where.gte, lt=where.lt, lte=where.lte)
            return models.FieldCondition(key=where.key, range=bounds)
        case FieldExists(field):
            return models.Filter(must_not=[models.IsEmptyCondition(is_empty=models.PayloadField(key=field))])
        case _:
            return _group(where)
