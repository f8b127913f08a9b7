"""Text without what no reader, database or message can carry: control characters, and halves of characters.

Python strings from JSON may hold lone surrogates, and a provider may cut one character in two over its deltas. Both
halves are joined here; a half that stays alone becomes U+FFFD.
"""

from __future__ import annotations

import re

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")
"""Control characters but tab, line feed and carriage return, and the two separators that break lines unseen."""

_LINE_ENDS = re.compile("\r\n?")


def cleaned(text: str) -> str:
    """Return `text` without control characters, with line feeds as line ends. Idempotent."""
    return _CONTROL.sub("", _LINE_ENDS.sub("\n", _whole(text)))


class DeltaCleaner:
    """Cleans a text that comes in pieces: the result does not depend on where it was cut."""

    def __init__(self) -> None:
        self._tail = ""

    def feed(self, text: str) -> str:
        """Return what is clean so far; a carriage return or half a character at the end waits for the next piece."""
        text = self._tail + text
        self._tail = text[-1:] if text and (text[-1] == "\r" or "\ud800" <= text[-1] <= "\udbff") else ""
        return cleaned(text[: len(text) - len(self._tail)])

    def finish(self) -> str:
        """Return what waited."""
        tail, self._tail = self._tail, ""
        return cleaned(tail)


def _whole(text: str) -> str:
    """Return the text with pairs of surrogates joined and lone ones replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
