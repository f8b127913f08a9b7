"""What a request's filter says of one field: a value, a list of values, or an object of operators."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import JsonValue

from shared.errors import InvalidInput, TooLarge
from shared.vectors.filter import NOTHING, FieldExists, FieldIn, FieldRange, Not, PointFilter
from shared.vectors.ranges import RANGE_FIELDS, Kind, instant
from shared.vectors.store import KEYWORD_FIELDS

MAX_VALUES = 256
"""Values of one list: enough to name the pages of a folder, few enough to stay cheap in the engine."""

MAX_CONDITIONS = 64
"""Conditions of one request, each value of an `all` among them: more than people write, few enough to stay cheap."""

MAX_CHARS = 4_096
"""Of one value: as long as a path may be."""

_HUGE = 1e300
"""Numbers from here on are refused: they are no number any more as text, or as a float."""

_NO_TEXT = re.compile("[\0\ud800-\udfff]")
"""NUL, which Postgres can't hold, and halves of surrogate pairs, which UTF-8 can't."""

_BOUNDS = ("gt", "gte", "lt", "lte")
_OPERATORS = ("any", "all", "none", "not", *_BOUNDS, "exists", "prefix")


def field_conditions(field: str, value: JsonValue) -> tuple[PointFilter, ...]:
    """Return the conditions of one field, all of which must hold.

    Raises InvalidInput for an unknown field or operator, or a value that it can't have; TooLarge beyond a limit.
    """
    if field not in KEYWORD_FIELDS:
        raise InvalidInput(f"There is no filter field '{field[:80]}'. Fields: {', '.join(KEYWORD_FIELDS)}.")
    if not isinstance(value, dict):
        return (FieldIn(field, _values(field, value)),)
    unknown = [name for name in value if name not in _OPERATORS]
    if unknown or not value:
        what = f"no operator '{unknown[0][:80]}'" if unknown else "no operator"
        raise InvalidInput(f"The filter on '{field}' has {what}. Operators: {', '.join(_OPERATORS)}.")
    bounds = {name: bound for name, bound in value.items() if name in _BOUNDS}
    others = [_operator(field, name, operand) for name, operand in value.items() if name not in _BOUNDS]
    return (*(condition for each in others for condition in each), *([_range(field, bounds)] if bounds else []))


def _operator(field: str, name: str, operand: JsonValue) -> tuple[PointFilter, ...]:
    match name:
        case "any":
            return (FieldIn(field, _values(field, operand)),)
        case "all":
            return tuple(FieldIn(field, (value,)) for value in _values(field, operand)) or (NOTHING,)
        case "exists":
            return (_exists(field, operand),)
        case "prefix":
            return (_prefix(field, operand),)
        case _:
            return (Not(FieldIn(field, _values(field, operand))),)


def _values(field: str, value: JsonValue) -> tuple[str | int | bool, ...]:
    values = value if isinstance(value, list) else [value]
    if len(values) > MAX_VALUES:
        raise TooLarge(f"The filter on '{field}' has {len(values)} values; at most {MAX_VALUES} are allowed.")
    return tuple(_scalar(field, item) for item in values)


def _scalar(field: str, value: JsonValue) -> str | int | bool:
    if isinstance(value, str):
        return _text(field, value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and abs(value) < _HUGE:
        return value if isinstance(value, int) else repr(value)  # as JSON writes it (shared.vectors.payload)
    raise InvalidInput(
        f"The filter on '{field}' takes text, numbers, true or false, a list of them, or an object of operators: "
        f"{', '.join(_OPERATORS)}."
    )


def _text(field: str, value: str) -> str:
    if len(value) > MAX_CHARS:
        raise TooLarge(f"The filter on '{field}' has a value of {len(value)} characters; at most {MAX_CHARS} are.")
    if _NO_TEXT.search(value):
        raise InvalidInput(f"The filter on '{field}' has a value with a character that no text can hold.")
    return value


def _exists(field: str, operand: JsonValue) -> PointFilter:
    if not isinstance(operand, bool):
        raise InvalidInput(f"The filter on '{field}' takes true or false after 'exists'.")
    return FieldExists(field) if operand else Not(FieldExists(field))


def _prefix(field: str, operand: JsonValue) -> PointFilter:
    folders = _values(field, operand)
    if field != "path":
        raise InvalidInput(f"The filter on '{field}' has no 'prefix'; only 'path' has.")
    for folder in folders:
        if not isinstance(folder, str) or not folder.endswith("/") or folder.startswith("/"):
            raise InvalidInput(
                f"The filter on 'path' takes folders after 'prefix', relative to the vault and with a slash at their "
                f'end, such as "wiki/concepts/"; not {str(folder)[:80]!r}.'
            )
    return FieldIn("path_prefixes", folders)


def _range(field: str, bounds: Mapping[str, JsonValue]) -> PointFilter:
    if field not in RANGE_FIELDS:
        raise InvalidInput(
            f"The filter on '{field}' has no {', '.join(bounds)}; these have: {', '.join(RANGE_FIELDS)}."
        )
    read: dict[str, tuple[Kind, float]] = {name: _bound(field, name, bound) for name, bound in bounds.items()}
    kinds: set[Kind] = {kind for kind, _ in read.values()}
    if len(kinds) > 1:
        raise InvalidInput(f"The filter on '{field}' is between a number and a date; give two numbers or two dates.")
    (kind,) = kinds
    return FieldRange(field, kind, **{name: value for name, (_, value) in read.items()})


def _bound(field: str, name: str, bound: JsonValue) -> tuple[Kind, float]:
    if isinstance(bound, int | float) and not isinstance(bound, bool) and abs(bound) < _HUGE:
        return "number", float(bound)
    moment = instant(bound) if isinstance(bound, str) else None
    if moment is not None:
        return "date", moment
    raise InvalidInput(
        f"The filter on '{field}' takes a number or a date after '{name}', the date as text in ISO 8601 such as "
        '"2025-01-31" or "2025-01-31T12:00:00Z".'
    )
