"""What filters compare: payload fields as text. Used by every vector store, so that all of them agree.

Front matter says `level: 3` here and `level: "3"` there, and a filter arrives as JSON; neither author thought of
types. So the fields that a filter may name are stored and compared as text: `3` and `"3"` are equal, `true` and
`"true"` are equal. It also lets one keyword index serve every value, which Qdrant's strict mode demands.
"""

from __future__ import annotations

from collections.abc import Mapping

from shared.errors import InvalidInput
from shared.vectors.store import KEYWORD_FIELDS, PointFilter

_FIELDS = frozenset(KEYWORD_FIELDS)


def keyword(value: object) -> str | None:
    """Return how a value is compared: booleans and numbers as JSON writes them; None for what no filter can equal."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else None


def _keywords(value: object) -> object:
    if isinstance(value, list | tuple):
        entries: list[str | None] = [keyword(entry) for entry in value]  # pyright: ignore[reportUnknownArgumentType]
        return [entry for entry in entries if entry is not None]
    return keyword(value)


def stored_payload(payload: Mapping[str, object]) -> dict[str, object]:
    """Return the payload as a store keeps it: keyword fields as text or lists of text, absent values left out."""
    stored = {name: _keywords(value) if name in _FIELDS else value for name, value in payload.items()}
    return {name: value for name, value in stored.items() if value is not None}


def stored_filter(where: PointFilter) -> tuple[list[tuple[str, list[str]]], list[tuple[str, list[str]]]]:
    """Return `must` and `must_not` as (field, texts); a `must_not` without values excludes nothing and is left out.

    Raises InvalidInput for a field that has no keyword index.
    """
    for condition in (*where.must, *where.must_not):
        if condition.field not in _FIELDS:
            raise InvalidInput(
                f"There is no filter field {condition.field!r}; the fields are: {', '.join(KEYWORD_FIELDS)}."
            )
    must = [(condition.field, _texts(condition.values)) for condition in where.must]
    must_not = [(condition.field, _texts(condition.values)) for condition in where.must_not if condition.values]
    return must, must_not


def _texts(values: tuple[str | int | bool, ...]) -> list[str]:
    return [text for value in values if (text := keyword(value)) is not None]
