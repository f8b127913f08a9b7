"""Texts as words, so that case, punctuation, markup and line ends make no difference. Pure, linear in the text.

On purpose not the words of the service's own support check, which is among what is measured.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_DENSE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Scripts that put no blanks between words (CJK): each character counts as a word."""

_WORD = re.compile(rf"[{_DENSE}]|[^\W_{_DENSE}]+")


def words_of(text: str) -> list[str]:
    """Return words and numbers in order, in lower case and one Unicode form; `1,000` is two of them."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def holds(text: str, phrase: str) -> bool:
    """Say whether the words of a phrase stand in a text in a row.

    Cells of a table's row, `| 3 | suspect |`, need only come one behind the other, as answers read rows out with their
    headings. A phrase without a word stands nowhere.
    """
    within = words_of(text)
    cells = [cell for cell in map(words_of, phrase.split("|")) if cell]
    at = 0
    for cell in cells:
        found = _find(within, cell, at)
        if found is None:
            return False
        at = found + len(cell)
    return bool(cells)


def share_within(text: str, other: str) -> float:
    """Return the share of a text's distinct words that stand in another one, 0 to 1; 0 for a text without words."""
    wanted = set(words_of(text))
    return len(wanted & set(words_of(other))) / len(wanted) if wanted else 0.0


def _find(within: Sequence[str], run: Sequence[str], start: int) -> int | None:
    for at in range(start, len(within) - len(run) + 1):
        if within[at : at + len(run)] == run:
            return at
    return None
