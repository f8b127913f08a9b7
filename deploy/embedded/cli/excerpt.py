"""Which lines of a long passage to show: those in which most of the question's words stand. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_LEAST_LETTERS = 4
"""Shorter words (the, und, les) stand everywhere."""

_STEM_LETTERS = 6
"""Words that begin alike count as one: launch, launched; wind limit, wind limits."""


def excerpt(lines: Sequence[str], query: str, count: int) -> range:
    """Return which `count` lines in a row to show: where the question's rarest words stand, the first such place.

    All lines when there are not more; the first ones when no word of the question stands in any.
    """
    if len(lines) <= count:
        return range(len(lines))
    wanted = _stems(query)
    found = [_stems(line) & wanted for line in lines]
    frequency = Counter(stem for stems in found for stem in stems)
    weights = [sum(1 / frequency[stem] for stem in stems) for stems in found]
    start = max(
        range(len(lines) - count + 1), key=lambda first: (round(sum(weights[first : first + count]), 9), -first)
    )
    return range(start, start + count)


def _stems(text: str) -> set[str]:
    words = re.findall(rf"\w{{{_LEAST_LETTERS},}}", text.casefold())
    return {word[:_STEM_LETTERS] for word in words}
