"""Bytes of a file to text, without changing a character: line ends stay as they are, only a byte order mark goes.

All offsets of citebus count characters of the text that `decode` returns.
"""

from __future__ import annotations

import codecs
import re

from charset_normalizer import from_bytes

from shared.errors import InvalidInput

_WITH_MARK = (  # UTF-32 first: its mark begins with that of UTF-16
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
_SIGNATURES = (
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"\x89PNG\r\n", "a PNG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "a database"),
)
_CONTROLS = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
_MAX_CONTROLS_PER_1000 = 10
"""Stray control characters happen in text; a share like this only in binary data that some encoding happens to fit."""
_DETECTION_BYTES = 65_536
"""So much of a file decides its encoding: detection is slow, and more text does not change its mind."""
_NOT_ASCII_BASED = ["cp037", "cp273", "cp424", "cp500", "cp875", "cp1026", "cp1140", "utf_7", "utf_16", "utf_32"]
"""Encodings in which the bytes of `#` and `-` would be no `#` and `-`, so that no such file is Markdown."""
_LONE_CR = re.compile(r"\r(?!\n)")


def decode(content: bytes) -> str:
    """Return the text of a file: UTF-8, UTF-16 or UTF-32 with a byte order mark, else what its bytes look most like.

    Raises InvalidInput, with a reason for people, for NUL bytes, binary data and bytes that fit no encoding.
    """
    for mark, encoding, name in _WITH_MARK:
        if content.startswith(mark):
            return _checked(_strict(content, encoding, name))
    if b"\0" in content:
        raise InvalidInput(_binary_reason(content, "it contains NUL bytes"))
    try:
        return content.decode()
    except UnicodeDecodeError:
        return _checked(_detected(content))


def with_line_feeds(text: str) -> str:
    """Return `text` with each lone CR as LF, of the same length, so that offsets stay.

    CRLF stays. Afterwards every line end of the text, be it CRLF, lone CR or LF, has exactly one LF.
    """
    return _LONE_CR.sub("\n", text) if "\r" in text else text


class LineCounter:
    """Tells the line of an offset, from 1, in a text that `with_line_feeds` returned; linear for a walk through it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._offset = 0
        self._line = 1

    def at(self, offset: int) -> int:
        """Return the line of the character at `offset`; the line end itself belongs to the line that it ends."""
        if offset >= self._offset:
            self._line += self._text.count("\n", self._offset, offset)
        else:
            self._line -= self._text.count("\n", offset, self._offset)
        self._offset = offset
        return self._line


def _strict(content: bytes, encoding: str, name: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        message = f"The file begins with the mark of {name}, but is not {name} at byte {error.start}: save it as UTF-8."
        raise InvalidInput(message) from error


def _detected(content: bytes) -> str:
    for signature, name in _SIGNATURES:
        if content.startswith(signature):
            raise InvalidInput(_binary_reason(content, f"it is {name}"))
    sample = content if len(content) <= _DETECTION_BYTES else content[: content.rfind(b"\n", 0, _DETECTION_BYTES) + 1]
    try:
        for part in (sample or content[:_DETECTION_BYTES], content):
            best = from_bytes(part, cp_exclusion=_NOT_ASCII_BASED).best()
            if best is not None:
                return content.decode(best.encoding)
    except UnicodeDecodeError as error:
        message = f"The file is {error.encoding} at first, but not at byte {error.start}: save it as UTF-8."
        raise InvalidInput(message) from error
    raise InvalidInput("The file is not text in any known encoding: save it as UTF-8, or exclude it.")


def _checked(text: str) -> str:
    """Return `text` unless it holds NUL, half of a surrogate pair, or so many control characters that it is no text."""
    if "\0" in text:
        raise InvalidInput(_binary_reason(b"", "it contains NUL characters"))
    if len(_CONTROLS.findall(text)) * 1000 > len(text) * _MAX_CONTROLS_PER_1000:
        raise InvalidInput(_binary_reason(b"", "it is full of control characters"))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("The file holds halves of characters: save it as UTF-8.") from error
    return text


def _binary_reason(content: bytes, seen: str) -> str:
    known = next((f"it is {name}" for signature, name in _SIGNATURES if content.startswith(signature)), seen)
    return f"The file is not text: {known}. Exclude it, or save it as UTF-8 text."
