"""Keeps source text from faking citations.

A reader takes `[n]` for a citation, so nothing else in the context may look like one. Text from pages does: footnotes
(`[12]`, `[1, 2]`, `[1-3]`), their full-width kin (`【1】`, `［1］`, `【1†source】`), and code (`a[0]`). Behind the
opening bracket of each such place goes a WORD JOINER, U+2060: invisible, no blank, no digit, kept by Unicode
normalisation. The marker no longer matches, a person or a model reads the same text, code keeps its shape, and
deleting U+2060 gives the source back exactly as it stands at the passage's range.
"""

from __future__ import annotations

import re

JOINER = "\u2060"

_FAKE = re.compile(
    r"[\[［【〔]"  # an opening bracket, plain, full-width, lenticular or tortoise-shell
    r"(?=\s*\d[\d\s,;，、；–—~-]*"  # a number, a list or a range, with blanks anywhere
    r"[\]］】〕†])"  # some models cite as 【1†source】
)


def neutralised(text: str) -> str:
    """Return `text` with no marker that could be taken for a citation; applying it again changes nothing."""
    return _FAKE.sub(lambda match: match.group() + JOINER, text)
