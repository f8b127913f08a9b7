"""What filters compare: payload fields as text. Used by every vector store, so that all of them agree.

Front matter says `level: 3` here and `level: "3"` there, and a filter arrives as JSON; neither author thought of
types. So the fields that a filter may name are stored and compared as text: `3` and `"3"` are equal, `true` and
`"true"` are equal. It also lets one keyword index serve every value, which Qdrant's strict mode demands. What has an
order is kept beside them (`ranges`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shared.errors import InvalidInput
from shared.vectors.filter import EVERYTHING, NOTHING, All, AnyOf, FieldExists, FieldIn, FieldRange, Not, PointFilter
from shared.vectors.ranges import RANGE_FIELDS
from shared.vectors.store import KEYWORD_FIELDS

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


def stored_filter(where: PointFilter) -> PointFilter:
    """Return the same filter in its simplest form: what a store compiles, so that none fails open.

    Nested groups of one kind are one group, a double negation is none. EVERYTHING and NOTHING are these very
    objects and never inside of others; `FieldIn` has values. Raises InvalidInput for a field that has no index.
    """
    match where:
        case FieldIn(field, values):
            _check(field, KEYWORD_FIELDS)
            return where if values else NOTHING
        case FieldRange(field):
            _check(field, RANGE_FIELDS)
            return _tightest(where)
        case FieldExists(field):
            _check(field, KEYWORD_FIELDS)
            return where
        case Not(part):
            return _negated(stored_filter(part))
        case All(parts):
            return _group(EVERYTHING, NOTHING, [stored_filter(part) for part in parts])
        case AnyOf(parts):
            return _group(NOTHING, EVERYTHING, [stored_filter(part) for part in parts])


def _tightest(where: FieldRange) -> FieldRange:
    """Return the same range with one bound a side: engines look at one of two."""
    gt, gte, lt, lte = where.gt, where.gte, where.lt, where.lte
    if gt is not None and gte is not None:
        gt, gte = (gt, None) if gt >= gte else (None, gte)
    if lt is not None and lte is not None:
        lt, lte = (lt, None) if lt <= lte else (None, lte)
    return replace(where, gt=gt, gte=gte, lt=lt, lte=lte)


def _negated(where: PointFilter) -> PointFilter:
    if where is EVERYTHING:
        return NOTHING
    if where is NOTHING:
        return EVERYTHING
    return where.part if isinstance(where, Not) else Not(where)


def _group(empty: All | AnyOf, decisive: All | AnyOf, parts: Sequence[PointFilter]) -> PointFilter:
    """Return a group of simple parts: of the kind of the `empty` one, settled by the part that is `decisive`."""
    kind, flat = type(empty), list[PointFilter]()
    for part in parts:
        if part is decisive:
            return decisive
        flat.extend(part.parts if isinstance(part, kind) else (part,))
    return (flat[0] if len(flat) == 1 else kind(tuple(flat))) if flat else empty


def clauses(where: PointFilter) -> tuple[list[PointFilter], list[PointFilter], list[PointFilter]]:
    """Return a simple filter as Qdrant's: what must hold, of what one should, what must not; NOTHING is none of these.

    Each part is a condition on one field, or a group that becomes a filter of its own.
    """
    match where:
        case AnyOf(parts):
            return [], list(parts), []
        case All(parts):
            excluded = [part.part for part in parts if isinstance(part, Not)]
            return [part for part in parts if not isinstance(part, Not)], [], excluded
        case Not(part):
            return [], [], [part]
        case _:
            return [where], [], []


def texts(values: Sequence[str | int | bool]) -> list[str]:
    """Return how the values of a condition are compared."""
    return [text for value in values if (text := keyword(value)) is not None]


def _check(field: str, fields: tuple[str, ...]) -> None:
    if field not in fields:
        raise InvalidInput(f"There is no filter field {field!r} here; the fields are: {', '.join(fields)}.")
