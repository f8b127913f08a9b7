"""What would break a program that was written against an older schema of a message.

Within a major version only optional fields may be added: everything else is a break, told in words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]

LOWER_BOUNDS = ("minimum", "minLength", "minItems")
UPPER_BOUNDS = ("maximum", "maxLength", "maxItems")


def breaks(old: Schema, new: Schema) -> list[str]:
    """Return each break as `field: what changed`; empty when every old message and program still works."""
    return list(_compare("message", _inline(old, old), _inline(new, new)))


def _inline(node: Any, root: Schema) -> Any:
    """Replace references by what they refer to, and an option that may be null by that option."""
    if isinstance(node, list):
        return [_inline(item, root) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _inline(root["$defs"][node["$ref"].rsplit("/", 1)[-1]], root)
    options = [option for option in node.get("anyOf", []) if option.get("type") != "null"]
    if len(options) == 1:
        return {**_inline(options[0], root), "nullable": True}
    return {key: _inline(value, root) for key, value in node.items() if key != "$defs"}


def _compare(field: str, old: Schema, new: Schema) -> Iterator[str]:
    for key in ("type", "format", "pattern", "anyOf"):
        if old.get(key) != new.get(key):
            yield f"{field}: {key} was {old.get(key)}, is {new.get(key)}"
    if old.get("nullable") and not new.get("nullable"):
        yield f"{field}: may not be null any more"
    yield from _values(field, old, new)
    yield from _bounds(field, old, new)
    yield from _properties(field, old, new)
    for key in ("items", "additionalProperties"):
        if isinstance(old.get(key), dict) and isinstance(new.get(key), dict):
            yield from _compare(f"{field}[]", old[key], new[key])


def _values(field: str, old: Schema, new: Schema) -> Iterator[str]:
    """A value that goes breaks old writers, a value that comes breaks old readers."""
    before, after = (set(node.get("enum", [node.get("const")])) for node in (old, new))
    yield from (f"{field}: value {value!r} is gone" for value in sorted(before - after, key=str))
    yield from (
        f"{field}: value {value!r} is new, older readers refuse it" for value in sorted(after - before, key=str)
    )


def _bounds(field: str, old: Schema, new: Schema) -> Iterator[str]:
    for key in LOWER_BOUNDS:
        if new.get(key, float("-inf")) > old.get(key, float("-inf")):
            yield f"{field}: {key} was {old.get(key)}, is {new[key]}"
    for key in UPPER_BOUNDS:
        if new.get(key, float("inf")) < old.get(key, float("inf")):
            yield f"{field}: {key} was {old.get(key)}, is {new[key]}"


def _properties(field: str, old: Schema, new: Schema) -> Iterator[str]:
    before, after = old.get("properties", {}), new.get("properties", {})
    demanded, demands = set(old.get("required", [])), set(new.get("required", []))
    yield from (f"{field}.{name}: is gone" for name in before if name not in after)
    yield from (f"{field}.{name}: is required now" for name in sorted(demands - demanded))
    yield from (f"{field}.{name}: is no longer always there" for name in sorted(demanded - demands) if name in after)
    for name in before:
        if name in after:
            yield from _compare(f"{field}.{name}", before[name], after[name])
