"""Cuts a text into tokens: words and whole identifiers; pairs of characters where a script leaves no blanks.

A token may hold joints (`nats-server.conf`, `std::vector`, `max_payload`, `v2.10.3`) and one sign that belongs to a
name (`C++`, `C#`, `.NET`, `§15`); `names` takes it apart. Texts that differ only in Unicode form give the same tokens:
NFC and NFD, full and half width, ligatures. Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese are cut into
overlapping pairs of characters, vowel signs with their consonant: as good as a dictionary's words on XQuAD (zh .966
against .963, nDCG@10) and the same for words that no dictionary has.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from operator import add
from typing import NamedTuple


class Tokens(NamedTuple):
    """What a text is cut into; each list in order, with repeats."""

    words: list[str]
    """Tokens of scripts that part words by blanks, in the case that they have in the text."""
    pairs: list[str]
    """Overlapping pairs of characters of scripts that do not; a character that stands alone stands for itself."""
    characters: list[str]
    """The single Han characters: a document is found by each of them."""


def tokens(text: str) -> Tokens:
    """Return the tokens of any text. Linear time."""
    text = _normal(text)
    if text.isascii() or not _INTRICATE.search(text):
        return Tokens(_TOKEN.findall(text) + _operators(text), [], [])
    runs = _RUN.findall(text)
    rest = _RUN.sub(" ", text) if runs else text
    pattern = _MARKED_TOKEN if _MARK.search(rest) else _TOKEN
    words = pattern.findall(rest) + _operators(rest)
    pairs = [pair for run in runs for pair in _pairs(run)]
    return Tokens(words, pairs, _HAN.findall(" ".join(runs)))


def _normal(text: str) -> str:
    if not text.isascii():
        for sign in _BLANKS:
            text = text.replace(sign, " ")
        text = unicodedata.normalize("NFKC", text)
        if "§" in text:
            text = _SECTION.sub("§", text)
    return _DECIMAL_COMMA.sub(".", text) if _COMMA_IN_NUMBER.search(text) else text


def _pairs(run: str) -> Iterable[str]:
    """Return the pairs of a run of letters; marks, which are none, stay with the letter before them."""
    characters = run if run.isalpha() else _CHARACTER.findall(run)
    return map(add, characters, characters[1:]) if len(characters) > 1 else characters


def _operators(text: str) -> list[str]:
    return ["operator" + signs for signs in _OPERATOR.findall(text)] if "operator" in text else []


def _class_of_marks() -> str:
    """Return the inside of a character class: combining marks, which are no letters for `re`.

    Only those of the first plane: with the others, which are of historic scripts, the class is ten times as slow.
    """
    spans: list[list[int]] = []
    for code in range(0x10000):
        if unicodedata.category(chr(code)) in ("Mn", "Mc"):
            if spans and spans[-1][1] == code - 1:
                spans[-1][1] = code
            else:
                spans.append([code, code])
    return "".join(f"\\u{first:04x}-\\u{last:04x}" for first, last in spans)


_MARKS = _class_of_marks()
_MARK = re.compile(f"[{_MARKS}]")
_JOINTS = r"[-./:]+"
_TOKEN = re.compile(rf"[.§]?\w+(?:{_JOINTS}\w+)*(?:\+\+|#)?")
_MARKED_TOKEN = re.compile(rf"[.§]?[\w{_MARKS}]+(?:{_JOINTS}[\w{_MARKS}]+)*(?:\+\+|#)?")
_OPERATOR = re.compile(r"\boperator ?(\[\]|\(\)|[-+*/%^&|~!=<>]{1,3})")

_BLANKS = "\u2122，：；！？（）"
"""NFKC would spell the trade mark sign out, as a part of the word before it; the others keep it from being fast."""
_SECTION = re.compile(r"§+ ?(?=\d)")
_COMMA_IN_NUMBER = re.compile(r"\d,\d")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
"""1,000 and 1.000 are one number in two spellings, and so are 3,14 and 3.14."""

_INTRICATE = re.compile("[^\0-\u02ff\u0370-\u0482\u048a-\u0590\u1e00-\u20cf\u2100-\u2e7f]")
"""A character of a script that has marks or leaves no blanks: not Latin, Greek, Cyrillic, Armenian, signs."""

_HAN_CLASS = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
_RUN = re.compile(
    "["
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece"  # Thai and Lao, without currency signs and digits
    "\u1000-\u103f\u1050-\u108f\u1780-\u17d3"  # Burmese and Khmer
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    "\uac00-\ud7a3"  # Hangul: blanks part phrases, and endings stick to words
    f"{_HAN_CLASS}]+"
)
_HAN = re.compile(f"[{_HAN_CLASS}]")
_CHARACTER = re.compile(f".[{_MARKS}]*")
