"""Delimits text that others wrote, so that it can't pass for the prompt's own.

Every delimiter is a tag from TAGS. Where the text itself has such a tag, opening or closing, in whatever case and with
whatever blanks, an invisible WORD JOINER (U+2060) goes behind its `<`: the tag no longer is one, and a reader sees the
same. So a passage can neither end its block nor begin another.
"""

from __future__ import annotations

import re
from typing import Literal

Tag = Literal["background", "passages", "question", "sentences"]

_JOINER = "\u2060"
_FORGED = re.compile(r"[<＜‹〈](?=\s*[/\\]?\s*(?:background|passages|question|sentences)\b)", re.IGNORECASE)
_MADE_HARMLESS = re.compile(
    rf"([<＜‹〈]){_JOINER}(?=\s*[/\\]?\s*(?:background|passages|question|sentences)\b)", re.IGNORECASE
)


def block(tag: Tag, text: str) -> str:
    """Return `text` between the tags, with every forged tag in it made harmless."""
    return f"<{tag}>\n{harmless(text)}\n</{tag}>"


def harmless(text: str) -> str:
    """Return `text` without any of the tags."""
    return _FORGED.sub(lambda found: found.group() + _JOINER, text)


def unblocked(tag: Tag, text: str) -> str | None:
    """Return what the last block of a tag holds, as it was before it was delimited; None without one."""
    start, end = text.rfind(f"<{tag}>\n"), text.rfind(f"\n</{tag}>")
    if start < 0 or end < start:
        return None
    return _MADE_HARMLESS.sub(r"\1", text[start + len(tag) + 3 : end])
