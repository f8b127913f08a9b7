"""Finds the citations in an answer while it is written, and brings them into one form, `[n]`.

The text goes out as early as possible: only what may still become a citation is held back, at most LOOKAHEAD
characters. Numbers that were never given are removed, with one blank before them, and counted. Code stays as it is.
However a text is cut into deltas, the result is the same. What counts as a citation: services.chat.marker_grammar.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from services.chat.code_regions import CodeRegions
from services.chat.marker_grammar import CLOSING, OPENING, Before, Candidate, Verdict, judge


@dataclass(frozen=True, slots=True)
class Marker:
    """One `[n]` in the text that went out; the range counts characters from the text's beginning, half-open."""

    n: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """The next piece of text, may be empty, and the markers in it, in order."""

    text: str
    markers: tuple[Marker, ...]


class MarkerParser:
    """Parses one answer."""

    def __init__(self, given: Collection[int]) -> None:
        """`given`: the numbers that may be cited."""
        self._given = frozenset(given)
        self._regions = CodeRegions()
        self._pending = ""
        self._out: list[str] = []
        self._markers: list[Marker] = []
        self._length = 0
        self._removed = 0
        self._trail = _Trail()
        self._dropped_blank = False
        """A blank before a removed citation: needed again if a word or another citation follows at once."""
        self._swallow_blank = False
        """A citation at the start of a line was removed."""

    @property
    def removed(self) -> int:
        """How many numbers were removed."""
        return self._removed

    def feed(self, text: str) -> Parsed:
        """Take the next delta and return what can go out."""
        return self._advance(text, final=False)

    def finish(self) -> Parsed:
        """Return what was held back: the text is complete."""
        return self._advance("", final=True)

    def _advance(self, text: str, *, final: bool) -> Parsed:
        self._pending += text
        at = 0
        while at < len(self._pending):
            taken = self._step(at, final=final)
            if not taken:
                break
            at += taken
        self._pending = self._pending[at:]
        parsed = Parsed("".join(self._out), tuple(self._markers))
        self._out, self._markers = [], []
        return parsed

    def _step(self, at: int, *, final: bool) -> int:
        """Take one character or one citation from `at`; return how much was taken, 0: wait for more."""
        character = self._pending[at]
        if (character not in OPENING and character != " ") or self._regions.in_code(character):
            return self._take_text(character)
        blank = character == " "
        bracket = at + blank
        if bracket == len(self._pending):
            return self._take_text(character) if final else 0
        if self._pending[bracket] not in OPENING:
            return self._take_text(character)
        before = self._trail.behind_blank() if blank else self._trail.before()
        found = judge(self._pending[bracket : bracket + _WINDOW], before, final=final)
        if found is Verdict.WAIT:
            return 0
        if isinstance(found, Candidate):
            return self._take_marker(self._pending[at : bracket + found.length], found, blank=blank)
        return self._take_text(character)

    def _take_marker(self, raw: str, found: Candidate, *, blank: bool) -> int:
        known = [n for n in found.numbers if n in self._given]
        self._removed += len(found.numbers) - len(known)
        if known:
            if blank or self._dropped_blank:
                self._emit(" ")
            self._dropped_blank = False
        elif self._trail.line_start:
            self._swallow_blank = True
        else:
            self._dropped_blank = self._dropped_blank or blank
        for n in known:
            self._markers.append(Marker(n, self._length, self._length + len(f"[{n}]")))
            self._emit(f"[{n}]")
        for character in raw:
            self._regions.feed(character)
        self._trail.after_marker()
        return len(raw)

    def _take_text(self, character: str) -> int:
        self._regions.feed(character)
        if self._dropped_blank and character.isalnum():
            self._emit(" ")
        self._dropped_blank = False
        swallow, self._swallow_blank = self._swallow_blank and character == " ", False
        if not swallow:
            self._emit(character)
            self._trail.after(character)
        return 1

    def _emit(self, text: str) -> None:
        self._out.append(text)
        self._length += len(text)


_WINDOW = 64
"""More than judge looks at."""


class _Trail:
    """What the next bracket stands behind."""

    def __init__(self) -> None:
        self.line_start = True
        self._last = ""
        self._open = False
        """Since an opening bracket that is text came only what may stand in a citation: removing one could make one."""
        self._marker = False
        self._letters = False
        self._foreign = False

    def before(self) -> Before:
        """Return what stands directly before."""
        behind_bracket = self._last != "" and self._last in CLOSING and not self._marker
        blocked = self._open or behind_bracket or self._last == "\\"
        return Before(self._letters and not self._foreign, self.line_start, blocked)

    def behind_blank(self) -> Before:
        """Return what stands before, were there a blank in between."""
        return Before(identifier=False, line_start=self.line_start, blocked=self._open)

    def after(self, character: str) -> None:
        """Note a character of text."""
        self._last, self._marker = character, False
        self._open = character in OPENING or (self._open and not character.isalpha() and character not in CLOSING)
        word = character.isalnum() or character == "_"
        plain = character.isascii()
        self._letters = word and (self._letters or (plain and not character.isdigit()))
        self._foreign = word and (self._foreign or not plain)
        self.line_start = character == "\n" or (self.line_start and character in " \t>")

    def after_marker(self) -> None:
        """Note a citation, kept or removed."""
        self._last, self._marker, self._letters, self._foreign, self.line_start = "]", True, False, False, False
