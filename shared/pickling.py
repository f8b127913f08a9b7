"""Makes many small records cheap to hand to another process."""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import Any, TypeVar

_Record = TypeVar("_Record")


def pickled_by_fields(record: type[_Record]) -> type[_Record]:
    """Pickle a frozen dataclass with slots as its class and the values of its fields.

    Its own way looks the fields up anew for each object: five times slower, most of it in the process that reads.
    """
    names = [field.name for field in fields(record)]  # pyright: ignore[reportArgumentType]
    get = attrgetter(*names)

    def reduce(self: _Record) -> tuple[type[_Record], tuple[Any, ...]]:
        return record, get(self) if len(names) > 1 else (get(self),)

    record.__reduce__ = reduce  # pyright: ignore[reportAttributeAccessIssue]
    return record
