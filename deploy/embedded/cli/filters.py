"""Reads `--filter` and `--filter-json` into the filters of a SearchRequest.

    area=ops   area=ops,lab   area!=ops   !area=ops    path=wiki/*   path^=wiki/
    confidence>=0.5           last_verified<2025-01-01  level?       !level?

A comma parts values; `\\,` is one that belongs to a value. `=` for one field again adds values that may match; all
else must hold together. The service knows the fields, the operators that each has, and the limits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import cast

from pydantic import JsonValue

from shared.errors import InvalidInput
from shared.vectors.ranges import number

Filters = dict[str, JsonValue]

_OPTION = re.compile(r"(!?)([^!=<>^?,]+)(?:(\?)|(!=|\^=|<=|>=|=|<|>)(.*))", re.DOTALL)
_ORDER = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}
_COMMA = re.compile(r"(?<!\\),")
_FORMS = "area=ops, area=ops,lab, area!=ops, confidence>=0.5, last_verified<2025-01-01, path=wiki/*, level?, !level?"


def parse_filters(options: Sequence[str], json_text: str | None = None) -> Filters:
    """Return filters that ask for what every option says, and for what the JSON does.

    Raises InvalidInput for an option of no known form or without a value, or for what is no JSON object.
    """
    equal: Filters = {}
    together: list[Filters] = []
    excluded: list[Filters] = []
    for negated, field, condition in map(_option, options):
        if negated:
            excluded.append({field: condition})
        elif isinstance(condition, list):
            equal[field] = [*cast("list[JsonValue]", equal.get(field, [])), *condition]
        else:
            together.append({field: condition})
    if json_text is not None:
        together.append(_from_json(json_text))
    return _combined(equal, together, excluded)


def _combined(equal: Filters, together: list[Filters], excluded: list[Filters]) -> Filters:
    if not equal and not excluded and len(together) == 1:
        return together[0]
    filters = dict(equal)
    if together:
        filters["and"] = cast("list[JsonValue]", together)
    if excluded:
        filters["not"] = excluded[0] if len(excluded) == 1 else {"or": cast("list[JsonValue]", excluded)}
    return filters


def _option(option: str) -> tuple[bool, str, JsonValue]:
    """Return whether the condition is negated, its field, and what the field must be."""
    read = _OPTION.fullmatch(option.strip())
    if read is None or not (field := read[2].strip()):
        raise InvalidInput(f"--filter '{option}' has none of the forms {_FORMS}; the field's name comes first.")
    negated, exists, operator, text = bool(read[1]), read[3], read[4], (read[5] or "").strip()
    if exists:
        return negated, field, {"exists": True}
    if not text:
        raise InvalidInput(f"--filter '{option}' has no value after {operator}; pages without the field are !{field}?.")
    return negated != (operator == "!="), field, _condition(field, operator, text)


def _condition(field: str, operator: str, text: str) -> JsonValue:
    if operator in _ORDER:
        value = number(text)
        return {_ORDER[operator]: text if value is None else value}
    values = [part.replace("\\,", ",").strip() for part in _COMMA.split(text)]
    if operator == "^=":
        return {"prefix": list[JsonValue](values)}
    if field == "path" and any("*" in value for value in values):
        return {"prefix": [_folder(value) for value in values]}
    return list[JsonValue](values)


def _folder(pattern: str) -> JsonValue:
    folder, star, rest = pattern.partition("*")
    if not star or rest or not folder.endswith("/"):
        raise InvalidInput(
            f"--filter 'path={pattern}': a star stands for all that is in a folder, as in path=wiki/*, for each of the "
            "values; a name that has a star itself goes into --filter-json."
        )
    return folder


def _from_json(text: str) -> Filters:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"--filter-json is no JSON: {error}.") from error
    if not isinstance(value, dict):
        raise InvalidInput('--filter-json takes an object, such as \'{"area": ["ops", "lab"]}\'.')
    return value
