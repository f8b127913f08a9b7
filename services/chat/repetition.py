"""Notices an answer that has begun to repeat itself for ever, as models sometimes do until their limit.

The end of the text is looked at every CHECK_EVERY characters: it repeats when its last 600 characters or more are one
piece, at least four times over. A table's rule or a line of dashes is shorter; lists with running numbers differ.
Method: the prefix function of Knuth, Morris and Pratt on the reversed end gives the shortest period of every suffix.
"""

from __future__ import annotations

CHECK_EVERY = 512
WINDOW = 4096
"""Characters looked at: finds pieces of up to a quarter of it."""

_SHORTEST = 600
_TIMES = 4


class RepetitionGuard:
    """Follows one answer."""

    def __init__(self) -> None:
        self._end = ""
        self._unchecked = 0

    def repeats(self, text: str) -> bool:
        """Take the next piece and tell whether the answer goes in circles."""
        self._end = (self._end + text)[-WINDOW:]
        self._unchecked += len(text)
        if self._unchecked < CHECK_EVERY:
            return False
        self._unchecked = 0
        return ends_in_repetition(self._end)


def ends_in_repetition(text: str) -> bool:
    """Tell whether some suffix of 600 characters or more is one piece repeated four times or more."""
    backwards = text[::-1]
    borders = [0] * len(backwards)
    border = 0
    for index in range(1, len(backwards)):
        while border and backwards[index] != backwards[border]:
            border = borders[border - 1]
        border += backwards[index] == backwards[border]
        borders[index] = border
        length = index + 1
        if length >= _SHORTEST and (length - border) * _TIMES <= length:
            return True
    return False
