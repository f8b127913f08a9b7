"""How many tokens a text has, near enough for budgets and chunk sizes and without any model (DESIGN §7, phase 3).

Four characters are a token; a character of a script that tokenisers cut finer counts 1, so that a window is never
over-filled. Such scripts are everything from Hebrew on (U+0590 to U+1DFF: Hebrew, Arabic, Indic, Thai, Georgian,
Ethiopic, Khmer and the like), East Asian and the rest of the plane (U+2E80 to U+D7FF and U+F900 to U+FFEF: CJK, Kana,
Hangul, full-width forms), and all planes beyond the first (rare CJK, emoji). Latin, Greek, Cyrillic, punctuation and
symbols are not.
"""

from __future__ import annotations

import re

CHARACTERS_PER_TOKEN = 4
"""Usual for European languages and common tokenisers."""

# The negated class is the fast one: it is searched three times as fast as the list of dense ranges.
_SPARSE = "\0-\u058f\u1e00-\u2e7f\ud800-\uf8ff\ufff0-\uffff"
DENSE_RUN = re.compile(f"[^{_SPARSE}]+")
"""A run of characters that count 1 each."""


def estimate_tokens(text: str) -> int:
    """Return the estimated tokens of `text`, rounded up; 0 only for the empty text. Linear time."""
    if text.isascii():
        return -(-len(text) // CHARACTERS_PER_TOKEN)
    dense = sum(map(len, DENSE_RUN.findall(text)))
    return weigh(len(text), dense)


def weigh(length: int, dense: int) -> int:
    """Return the tokens of a text of `length` characters of which `dense` count 1 each, rounded up."""
    return dense - (dense - length) // CHARACTERS_PER_TOKEN
