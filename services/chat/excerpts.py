"""The words of a search, and the part of a text around them with marks. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from shared.contracts.conversations import ExcerptMark

_WORD = re.compile(r"\w+")
_BEFORE, _LENGTH = 80, 240
"""Characters ahead of the first word found, and of the whole excerpt: two lines on a screen."""

_MOST_WORDS = 32
"""More words than anyone types; each is looked for."""

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, kana and Chinese characters: no blanks between words."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a text, in one line."""

    text: str
    marks: tuple[ExcerptMark, ...]


def words_of(query: str) -> tuple[str, ...]:
    """Return the query's words, in lower case, each once, where it stands last; the last 32."""
    backwards = dict.fromkeys(word.lower() for word in reversed(_WORD.findall(query)))
    return tuple(reversed(list(backwards)[:_MOST_WORDS]))


def is_unspaced(query: str) -> bool:
    """Tell whether the query is of a script that does not part its words."""
    return _UNSPACED.search(query) is not None


def excerpt(text: str, query: str) -> Excerpt:
    """Return the text around the first word of the query that it has, with every one of them marked.

    The last word is found at the beginning of longer ones too. Where none is found: the beginning, unmarked.
    """
    pattern = _pattern(query)
    line = " ".join(text.split())
    first = pattern.search(line) if pattern else None
    start = max(0, first.start() - _BEFORE) if first else 0
    start = line.find(" ", start) + 1 if start and " " in line[start : start + _BEFORE] else start
    end = min(len(line), start + _LENGTH)
    if end < len(line) and " " in line[end - 40 : end]:
        end = line.rfind(" ", start, end)
    ahead, behind = "… " if start else "", " …" if end < len(line) else ""
    shift = len(ahead) - start
    found = pattern.finditer(line, start, end) if pattern else ()
    marks = tuple(ExcerptMark(start=each.start() + shift, end=each.end() + shift) for each in found)
    return Excerpt(f"{ahead}{line[start:end]}{behind}", marks)


def _pattern(query: str) -> re.Pattern[str] | None:
    words = words_of(unicodedata.normalize("NFC", query))
    if not words:
        return None
    if is_unspaced(query):
        return re.compile("|".join(map(re.escape, words)), re.IGNORECASE)
    whole = "|".join(map(re.escape, words))
    return re.compile(rf"\b(?:{re.escape(words[-1])}\w*|(?:{whole})\b)", re.IGNORECASE)
