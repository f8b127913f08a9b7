"""Takes a token apart: the words in an identifier, and the one spelling that stands for the whole.

`max_payload`, `max-payload` and `maxPayload` are the same two words and the same whole, `maxpayload`; `e-mail` is
`email`; `v2.10.3` is `2.10.3`; `1.000` is `1000`. So each is found by its words and by any of its spellings.
"""

from __future__ import annotations

import re
from typing import NamedTuple

WHOLE_MAX_CHARS = 64
"""A longer chain is a path or data: it is found by its words only."""

_JOINT = re.compile(r"[-./:_]+")
_SIGNS = re.compile(r"[-+*/%^&|~!=<>#()\[\]]+\Z")
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z]{2})|[A-Z]?[a-z]+\d*|[A-Z]+[a-z]?\d*|\d+")
"""HTTPServer: HTTP, Server. utf8ToString: utf8, To, String. IPv6 and URLs stay as they are."""
_THOUSANDS = re.compile(r"\d{1,3}(?:\.\d{3})+")
_NUMBERS = re.compile(r"[vV]?(\d+(?:[-./:]+\d+)+)")


class Name(NamedTuple):
    """What a token is made of."""

    words: list[str]
    """Between joints, in order."""
    whole: str
    """One spelling for all of it, to be spelled like a word; empty where there is but one word, or it is too long."""
    signed: list[str]
    """With a sign that belongs to it, in lower case, never stemmed: `c++`, `c#`, `.net`, `§15`, `operator[]`."""


def taken_apart(token: str) -> Name:
    """Return what a token of `tokens` is made of; a token of underscores only is made of nothing."""
    if token.isalnum():
        return Name([token], "", [])
    first = token[0] if token[0] in ".§" else ""
    signs = "" if token[-1].isalnum() else _trailing_signs(token)
    bare = token[len(first) : len(token) - len(signs)].strip("_")
    words = [word for word in _JOINT.split(bare) if word]
    if not words:
        return Name([], "", [])
    has_whole = len(words) > 1 and len(bare) <= WHOLE_MAX_CHARS and "://" not in bare
    signed = [first + words[0].lower()] if first else []
    return Name(words, _whole(bare, words) if has_whole else "", signed + [words[-1].lower() + signs] * bool(signs))


def humps(word: str) -> list[str]:
    """Return the parts of a word in camel case, at least two; none for another word."""
    return _PART.findall(word) if word.isascii() and _HUMP.search(word) else []


def _trailing_signs(token: str) -> str:
    signs = _SIGNS.search(token)
    return signs[0] if signs else ""


def _whole(bare: str, words: list[str]) -> str:
    """Return one spelling for all; numbers keep their joints, as 1.23 is not 12.3, but not those between thousands."""
    if not bare[-1].isdigit():
        return "".join(words)
    if _THOUSANDS.fullmatch(bare):
        return bare.replace(".", "")
    numbers = _NUMBERS.fullmatch(bare)
    return numbers[1] if numbers else "".join(words)
