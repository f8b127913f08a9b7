"""A request's filters as the store understands them. They fail closed: what is not understood is an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from pydantic import JsonValue

from shared.errors import InvalidInput, TooLarge
from shared.vectors.store import KEYWORD_FIELDS, FieldIn, PointFilter

MAX_VALUES = 256
"""Values of one field: enough to name the pages of a folder, few enough to stay cheap in the engine."""


def point_filter(vault_id: str | None, filters: Mapping[str, JsonValue], never_cite: Sequence[str]) -> PointFilter:
    """Return the filter that binds every hit of a request: its vault, its own conditions, nothing that is never cited.

    No vault: the points of all vaults, for where there is only one.

    Raises InvalidInput for an unknown field or a value that no field can have, TooLarge for more than MAX_VALUES.
    """
    conditions = tuple(_condition(name, value) for name, value in filters.items())
    must_not = (FieldIn("path_prefixes", tuple(never_cite)),) if never_cite else ()
    vault = (FieldIn("vault_id", (vault_id,)),) if vault_id is not None else ()
    return PointFilter(must=(*vault, *conditions), must_not=must_not)


def on_pages(where: PointFilter, page_ids: Sequence[UUID]) -> PointFilter:
    """Return the same filter for these pages only; no pages: nothing passes."""
    return replace(where, must=(*where.must, FieldIn("page_id", tuple(str(page_id) for page_id in page_ids))))


def _condition(name: str, value: JsonValue) -> FieldIn:
    if name not in KEYWORD_FIELDS:
        raise InvalidInput(f"There is no filter field '{name[:80]}'. Fields: {', '.join(KEYWORD_FIELDS)}.")
    values = value if isinstance(value, list) else [value]
    if len(values) > MAX_VALUES:
        raise TooLarge(f"The filter on '{name}' has {len(values)} values; at most {MAX_VALUES} are allowed.")
    return FieldIn(name, tuple(_scalar(name, item) for item in values))


def _scalar(name: str, value: JsonValue) -> str | int | bool:
    if isinstance(value, str | int):  # a bool is an int
        return value
    if isinstance(value, float):
        return repr(value)  # fields are compared as text, numbers as JSON writes them (shared.vectors.payload)
    raise InvalidInput(f"The filter on '{name}' takes text, numbers, true or false, or a list of them.")
