"""A request's filters as the stores understand them. They fail closed: what is not understood is an error.

The grammar, in which several keys of one object must all hold, and what the conditions mean is in
`shared.vectors.filter`:

    filters   = {<field>: condition, …, "and": [filters, …], "or": [filters, …], "not": filters}
    condition = value | [value, …]              one of the field's values equals one of these
              | {"any": values}                 the same
              | {"all": values}                 the field has each of them
              | {"none": values}, {"not": …}    the field has none of them
              | {"gt" | "gte" | "lt" | "lte": bound}    numbers, or ISO 8601 dates; a day is its first moment in UTC
              | {"exists": true | false}
              | {"prefix": folder | [folder, …]}        of `path`; a folder ends with "/"

An empty list matches nothing, whatever it is a list of, and its negation everything; an empty object inside is an
error. Limits: MAX_VALUES, MAX_CONDITIONS, MAX_DEPTH.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from pydantic import JsonValue

from services.retrieval.filter_conditions import MAX_CONDITIONS, field_conditions
from shared.errors import InvalidInput, TooLarge
from shared.vectors.filter import NOTHING, All, AnyOf, FieldIn, Not, PointFilter

MAX_DEPTH = 8
"""Objects within `and`, `or` and `not`: deeper than people nest, and far from any recursion limit."""

_GROUPS = ("and", "or", "not")


def point_filter(vault_id: str | None, filters: Mapping[str, JsonValue], never_cite: Sequence[str]) -> PointFilter:
    """Return the filter that binds every hit of a request: its vault, its own conditions, nothing that is never cited.

    No vault: the points of all vaults, for where there is only one.

    Raises InvalidInput for an unknown field or operator, or a value that it can't have; TooLarge beyond a limit.
    """
    parts: list[PointFilter] = [] if vault_id is None else [FieldIn("vault_id", (vault_id,))]
    if filters:
        parts.append(request_filter(filters))
    if never_cite:
        parts.append(Not(FieldIn("path_prefixes", tuple(never_cite))))
    return All(tuple(parts))


def on_pages(where: PointFilter, page_ids: Sequence[UUID]) -> PointFilter:
    """Return the same filter for these pages only; no pages: nothing passes."""
    return All((where, FieldIn("page_id", tuple(str(page_id) for page_id in page_ids))))


def request_filter(filters: Mapping[str, JsonValue]) -> PointFilter:
    """Return what a request's own filters ask for; none: everything. Raises as point_filter."""
    where, conditions = _object(filters, 0)
    if conditions > MAX_CONDITIONS:
        raise TooLarge(f"The filters have {conditions} conditions; at most {MAX_CONDITIONS} are allowed.")
    return where


def _object(filters: Mapping[str, JsonValue], depth: int) -> tuple[PointFilter, int]:
    """Return the filter and how many conditions it has."""
    if depth > MAX_DEPTH:
        raise TooLarge(f"The filters are nested deeper than {MAX_DEPTH} levels of 'and', 'or' and 'not'.")
    read = [
        _group(name, value, depth) if name in _GROUPS else _conditions(name, value) for name, value in filters.items()
    ]
    return All(tuple(where for where, _ in read)), sum(count for _, count in read)


def _conditions(name: str, value: JsonValue) -> tuple[PointFilter, int]:
    conditions = field_conditions(name, value)
    return All(conditions), len(conditions)


def _group(name: str, value: JsonValue, depth: int) -> tuple[PointFilter, int]:
    if name == "not":
        where, count = _nested(name, value, depth)
        return Not(where), count
    if not isinstance(value, list):
        raise InvalidInput(f"The filter '{name}' takes a list of objects of conditions.")
    if not value:
        return NOTHING, 1
    read = [_nested(name, entry, depth) for entry in value]
    parts = tuple(where for where, _ in read)
    return All(parts) if name == "and" else AnyOf(parts), sum(count for _, count in read)


def _nested(name: str, value: JsonValue, depth: int) -> tuple[PointFilter, int]:
    if not isinstance(value, dict) or not value:
        what = "an object of conditions" if name == "not" else "a list of objects of conditions"
        raise InvalidInput(f'The filter \'{name}\' takes {what}, none of them empty, such as {{"area": "energy"}}.')
    return _object(value, depth + 1)
