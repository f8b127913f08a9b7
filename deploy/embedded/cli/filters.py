"""Reads `--filter field=value` options into the filters of a SearchRequest."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from shared.errors import InvalidInput


def parse_filters(options: Sequence[str]) -> dict[str, JsonValue]:
    """Return field to the list of its values; a field that is named again gets another value that may match.

    `field=` gives an empty list, which matches nothing. A value that reads as a whole number or as true or false is
    given in both forms, since front matter may hold either. Raises InvalidInput for an option without a field or `=`.
    """
    filters: dict[str, list[JsonValue]] = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals or not name.strip():
            raise InvalidInput(f"--filter '{option}' is not of the form field=value, for example --filter area=energy")
        filters.setdefault(name.strip(), []).extend(_forms(value.strip()))
    return dict[str, JsonValue](filters)


def _forms(value: str) -> list[JsonValue]:
    if value == "":
        return []
    if value in ("true", "false"):
        return [value, value == "true"]
    if value.removeprefix("-").isdecimal() and value.isascii():
        return [value, int(value)]
    return [value]
