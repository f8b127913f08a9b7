"""What a bench measures, what is asked of it, and how many numbers become two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["goal", "ok", "MISS", ""]


class BenchFailed(Exception):
    """What was to be measured did not happen."""


@dataclass(frozen=True, slots=True)
class Bar:
    """What is asked of a figure, in the figure's unit."""

    must: float
    goal: float
    more_is_better: bool = False

    def verdict(self, measured: float) -> Verdict:
        """Return `goal` or `ok` when that is reached, else `MISS`; a figure that is no number is missed."""
        if self._reached(measured, self.goal):
            return "goal"
        return "ok" if self._reached(measured, self.must) else "MISS"

    def _reached(self, measured: float, asked: float) -> bool:
        return measured >= asked if self.more_is_better else measured <= asked


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table; without a bar it is there to explain the others."""

    work: str
    measured: float
    unit: str
    bar: Bar | None = None
    note: str = ""

    @property
    def verdict(self) -> Verdict:
        """What to make of it."""
        return "" if self.bar is None else self.bar.verdict(self.measured)


def percentile(numbers: Sequence[float], percent: float) -> float:
    """Return the smallest of the numbers that at least so many percent do not exceed (nearest rank); NaN for none."""
    if not numbers:
        return math.nan
    return sorted(numbers)[max(0, math.ceil(percent / 100 * len(numbers)) - 1)]


def p50_p99(work: str, times_ms: Sequence[float], bars: tuple[Bar, Bar] | None, note: str = "") -> list[Figure]:
    """Return median and 99th percentile as two figures."""
    p50, p99 = bars or (None, None)
    return [
        Figure(f"{work}: p50", percentile(times_ms, 50), "ms", p50, note),
        Figure(f"{work}: p99", percentile(times_ms, 99), "ms", p99, f"{len(times_ms)} times"),
    ]
