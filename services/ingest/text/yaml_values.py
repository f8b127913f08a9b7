"""YAML to JSON values, bounded: no tags that build objects, no aliases that explode, no depth without end.

Scalars follow the YAML 1.2 core schema, so that `no` stays a word and `12:30` a time; dates become ISO 8601 text.
Source of the rules: https://yaml.org/spec/1.2.2/#103-core-schema
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping
from typing import cast

import yaml

from shared.errors import InvalidInput

MAX_NODES = 10_000
"""Values in one front matter, aliases counted each time that they are used: an alias bomb ends here."""
MAX_DEPTH = 32
"""Nesting in one front matter; deeper is a mistake or an attack."""

_TOO_COMPLEX = f"more than {MAX_NODES:,} values or {MAX_DEPTH} levels"
_INTEGER = re.compile(r"[-+]?[0-9]+")
_MAX_DIGITS = 15
"""A longer whole number is a name, such as an ISBN or an id; as a number in JSON it would lose its last digits."""
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt ]+(\d{1,2}:\d{2}.*))?")
_WORDS: dict[str, object] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip


class _Loader(yaml.CSafeLoader):
    """Composes nodes and leaves every scalar as it is written: guessing tags would take most of the time."""

    def resolve(self, kind: object, value: object, implicit: object) -> str:
        return "tag:yaml.org,2002:str"

    def descend_resolver(self, current_node: object, current_index: object) -> None: ...

    def ascend_resolver(self) -> None: ...


def compose(text: str) -> yaml.Node | None:
    """Return the tree of a YAML document, None when it is empty. Raises InvalidInput that says where it is broken."""
    try:
        return yaml.compose(text, Loader=_Loader)
    except RecursionError as error:
        raise InvalidInput(_TOO_COMPLEX) from error
    except yaml.MarkedYAMLError as error:
        where = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise InvalidInput(f"not valid YAML, {where}{error.problem}") from error
    except yaml.YAMLError as error:
        raise InvalidInput("not valid YAML, it has control characters") from error


def to_values(node: yaml.MappingNode) -> dict[str, object]:
    """Return a mapping as JSON values. Raises InvalidInput beyond MAX_NODES or MAX_DEPTH."""
    return _Converter().mapping(node, 1)


def raw_text(node: yaml.MappingNode, key: str) -> str | None:
    """Return the scalar under `key` as it is written (`1.10` stays `1.10`); None when absent, null or no scalar."""
    found = None
    for name, value in node.value:
        if name.value == key:
            found = value
    if not isinstance(found, yaml.ScalarNode) or scalar(found) is None:
        return None
    return found.value.replace("\0", "\ufffd")


def scalar(node: yaml.ScalarNode) -> object:
    """Return a scalar as text, whole number, finite number, truth value or None; dates as ISO 8601 text."""
    text = node.value
    if node.style in ("'", '"', "|", ">"):
        return text.replace("\0", "\ufffd")  # Postgres has no NUL
    if text in _WORDS:
        return _WORDS[text]
    return _number_or_date(text) if text[0] in "0123456789+-." else text


def _number_or_date(text: str) -> object:
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) <= _MAX_DIGITS else text
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    date = _DATE.fullmatch(text)
    return _iso(date, text) if date else text


def _iso(date: re.Match[str], text: str) -> str:
    day = f"{date[1]}-{int(date[2]):02}-{int(date[3]):02}"
    try:
        datetime.date.fromisoformat(day)
        if date[4] is None:
            return day
        return datetime.datetime.fromisoformat(f"{day}T{date[4].replace(' ', '')}").isoformat()
    except ValueError:
        return text


class _Converter:
    """Walks a tree; the budget is shared by all branches, since aliases make a tree of a small graph."""

    def __init__(self) -> None:
        self._left = MAX_NODES

    def mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, object]:
        return {self._key(key, depth): self.value(value, depth + 1) for key, value in node.value}

    def value(self, node: yaml.Node, depth: int) -> object:
        self._left -= 1
        if self._left < 0 or depth > MAX_DEPTH:
            raise InvalidInput(_TOO_COMPLEX)
        if isinstance(node, yaml.ScalarNode):
            return scalar(node)
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, depth)
        return [self.value(item, depth + 1) for item in cast("list[yaml.Node]", node.value)]

    def _key(self, node: yaml.Node, depth: int) -> str:
        if isinstance(node, yaml.ScalarNode):
            return node.value.replace("\0", "\ufffd")
        return text_of(self.value(node, depth + 1))


def text_of(value: object) -> str:
    """Return a JSON value as the text that one would write for it; lists and mappings in brackets."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(text_of, cast('list[object]', value)))}]"
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return "{" + ", ".join(f"{key}: {text_of(item)}" for key, item in items) + "}"
    return "" if value is None else str(value)
