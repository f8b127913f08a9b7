"""Sizes of spans of one text, without reading the spans again: what chunking asks thousands of times."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from shared.tokens import CHARACTERS_PER_TOKEN, DENSE_RUN, weigh


class TokenRuler:
    """Measures spans of a text in tokens, exactly as `estimate_tokens` would; building is linear, asking is not."""

    def __init__(self, text: str) -> None:
        runs = () if text.isascii() else tuple(match.span() for match in DENSE_RUN.finditer(text))
        self._starts = [start for start, _ in runs]
        self._ends = [end for _, end in runs]
        self._before = [0]
        """Dense characters before the run of the same index."""
        for start, end in runs:
            self._before.append(self._before[-1] + end - start)

    def tokens(self, start: int, end: int) -> int:
        """Return the tokens of `text[start:end]`, rounded up; O(log n)."""
        if not self._starts:
            return -((start - end) // CHARACTERS_PER_TOKEN)
        return weigh(end - start, self._dense_before(end) - self._dense_before(start))

    def back(self, end: int, tokens: int) -> int:
        """Return the smallest start from which `text[start:end]` has at most `tokens` tokens; O(log n)."""
        lowest = max(0, end - tokens * CHARACTERS_PER_TOKEN)
        if not self._starts:
            return lowest
        candidates = range(lowest, end + 1)
        return candidates[bisect_left(candidates, -tokens, key=lambda start: -self.tokens(start, end))]

    def _dense_before(self, offset: int) -> int:
        run = bisect_right(self._starts, offset)
        return self._before[run] - max(0, self._ends[run - 1] - offset) if run else 0
