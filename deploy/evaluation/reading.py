"""Files of judged sets: JSON, JSON lines and tables, with errors that name file, line and what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from shared.errors import InvalidInput


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers from 1; raises InvalidInput when it can't be read."""
    number = 0
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except OSError as error:
        raise InvalidInput(f"{path} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}:{number + 1}: not UTF-8; save the file as UTF-8") from error


def json_lines(path: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield each line's object with where it stands (`file:line`); raises InvalidInput for one that is no object."""
    for number, line in text_lines(path):
        where = f"{path}:{number}"
        yield where, as_object(where, _parsed(where, line))


def json_list(path: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield each object of a file that holds one list, with where it stands; raises InvalidInput when it does not."""
    entries = _parsed(str(path), "\n".join(line for _, line in text_lines(path)))
    if not isinstance(entries, list):
        raise InvalidInput(f"{path}: not a JSON list of questions")
    for number, entry in enumerate(cast("list[object]", entries), start=1):
        where = f"{path}: entry {number}"
        yield where, as_object(where, entry)


def as_object(where: str, value: object) -> Mapping[str, object]:
    """Return a JSON value as an object; raises InvalidInput when it is none."""
    if not isinstance(value, dict):
        raise InvalidInput(f"{where}: not a JSON object")
    return cast("dict[str, object]", value)


def as_list(where: str, row: Mapping[str, object], name: str) -> list[object]:
    """Return a field that is a list; raises InvalidInput when it is none."""
    value = row.get(name)
    if not isinstance(value, list):
        raise InvalidInput(f'{where}: "{name}" is no list')
    return cast("list[object]", value)


def text_field(where: str, row: Mapping[str, object], name: str, default: str | None = None) -> str:
    """Return a field that is a text; an absent one or null is the default. Raises InvalidInput when it is neither."""
    value = row.get(name)
    if value is None:
        value = default
    if not isinstance(value, str):
        raise InvalidInput(f'{where}: "{name}" is ' + ("missing" if value is None else "no text"))
    return value


def id_field(where: str, row: Mapping[str, object], name: str) -> str:
    """Return a field that identifies: a text that is not empty, or a whole number. Raises InvalidInput otherwise."""
    value = row.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value:
        raise InvalidInput(f'{where}: "{name}" is ' + ("missing" if value in (None, "") else "neither text nor number"))
    return value


def number_field(where: str, row: Mapping[str, object], name: str) -> int:
    """Return a field that is a whole number, 0 or more; raises InvalidInput otherwise."""
    value = row.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidInput(f'{where}: "{name}" is not a whole number')
    return value


def _parsed(where: str, text: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"{where}: not JSON: {error}") from error
