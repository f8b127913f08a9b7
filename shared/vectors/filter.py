"""The filter algebra: one expression tree over the payload of points, the same in every store and in Postgres.

What it means is fixed here, and a property test holds Qdrant Edge, the Qdrant server's client, Postgres and a plain
evaluation in Python to it:

* A field has no value (absent, null, an empty list), one, or several (a list). A condition on a field is true when it
  is true of one of its values; so of a field without values no condition is true, and each one's `Not` is.
* `FieldIn` compares as text, exactly: 3 equals "3", true equals "true", `A` is not `a`, `0.5` is not `0.50`.
* `FieldRange` compares numbers with numbers and dates with dates; a value that is neither is outside of every range.
  One value must meet all bounds of the range.
* `Not` is true exactly where its part is not: there is no third answer.
* `All` of nothing is true everywhere, `AnyOf` of nothing and `FieldIn` without values nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from shared.pickling import pickled_by_fields
from shared.vectors.ranges import Kind, range_key


@pickled_by_fields
@dataclass(frozen=True, slots=True)
class FieldIn:
    """True when a value of the field equals one of `values`, as text."""

    field: str
    values: tuple[str | int | bool, ...]


@pickled_by_fields
@dataclass(frozen=True, slots=True)
class FieldRange:
    """True when a number or date of the field lies within all bounds that are given; without bounds: when it has one.

    Dates are seconds since 1970 in UTC (`ranges.instant`); the field is one of RANGE_FIELDS.
    """

    field: str
    kind: Kind
    gt: float | None = None
    gte: float | None = None
    lt: float | None = None
    lte: float | None = None

    @property
    def key(self) -> str:
        """The payload key that holds what is compared."""
        return range_key(self.field, self.kind)


@pickled_by_fields
@dataclass(frozen=True, slots=True)
class FieldExists:
    """True when the field has a value."""

    field: str


@pickled_by_fields
@dataclass(frozen=True, slots=True)
class Not:
    """True where `part` is not."""

    part: PointFilter


@pickled_by_fields
@dataclass(frozen=True, slots=True)
class All:
    """True where all parts are."""

    parts: tuple[PointFilter, ...] = ()


@pickled_by_fields
@dataclass(frozen=True, slots=True)
class AnyOf:
    """True where one part is."""

    parts: tuple[PointFilter, ...] = ()


PointFilter: TypeAlias = FieldIn | FieldRange | FieldExists | Not | All | AnyOf
"""What a store is asked for. One that names a field outside of KEYWORD_FIELDS or RANGE_FIELDS raises InvalidInput."""

EVERYTHING = All()
"""Lets every point through."""

NOTHING = AnyOf()
"""Lets no point through."""
