"""What looks like a citation in an answer: `[1]`, `[1, 2]`, `[1-3]`, `[[1]]`, `［１］`, `【1】`, `【1†source】`.

Numbers have one to three digits, and 0 is none of ours: `[0, 1]` and `[2024]` are text. Not citations either:

* `[^1]`, `[ ]`, `[x]`, `\\[1]`: footnotes, boxes, escaped brackets;
* `[1](url)`, `[text][1]`, and `[1]:` at the start of a line: links and their definitions;
* `a[0]`, `list[1]`: a bracket directly behind an identifier. Behind a word it counts only where a sentence ends
  (`as a rule[1].`), or when the word is no identifier (letters beyond ASCII, digits alone): answers put a blank before
  a citation, code does not.

Everything is decided within LOOKAHEAD characters from the bracket, so that a streamed text is never held back longer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

OPENING = "[［【〔"
CLOSING = "]］】〕"

LOOKAHEAD = 40
"""Characters from the bracket that decide; `[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]`, longer than what is written, has 31."""

_LONGEST_RANGE = 50
"""Numbers that a range may stand for: as many as a search may seed. A longer one counts as its two ends."""

_NUMBER = r"\d{1,3}"
_BLANK = "[ \t\u00a0]*"
_DASH = "\\-\u2010-\u2015\u2212~"
_ITEM = rf"{_NUMBER}(?:{_BLANK}[{_DASH}]{_BLANK}{_NUMBER})?"
_ITEMS = rf"{_ITEM}(?:{_BLANK}[,;，、；]{_BLANK}{_ITEM})*"
_SOURCE = rf"(?:†[^\]{CLOSING[1:]}\n]*)?"
_OPEN, _CLOSE = rf"[\[{OPENING[1:]}]", rf"[\]{CLOSING[1:]}]"
_MARKER = re.compile(rf"(\[(?=\[))?{_OPEN}{_BLANK}(?P<items>{_ITEMS}){_BLANK}{_SOURCE}{_CLOSE}(?(1)\])")
_UNFINISHED = re.compile(rf"\[?{_OPEN}?[\d \t\u00a0,;，、；{_DASH}]*{_SOURCE}\]?")
_RANGE = re.compile(rf"({_NUMBER}){_BLANK}[{_DASH}]{_BLANK}({_NUMBER})")
_SENTENCE_END = re.compile(r"[.!?。！？…]+[\"'”’»)]*(?:\s|$)|\s*(?:\n|$)")
_MAYBE_SENTENCE_END = re.compile(r"[.!?。！？…]*[\"'”’»)]*[ \t]*")


@dataclass(frozen=True, slots=True)
class Before:
    """What stands before a bracket."""

    identifier: bool = False
    """A word that could be a name in a program, directly before it."""
    line_start: bool = True
    blocked: bool = False
    """A backslash, another opening bracket, or the end of a bracket that is no citation."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bracket that cites: its length in the text, and its numbers in order, without repeats."""

    length: int
    numbers: tuple[int, ...]


class Verdict(Enum):
    """What a bracket is when it does not cite."""

    TEXT = "text"
    WAIT = "wait"
    """More text decides."""


def judge(text: str, before: Before, *, final: bool) -> Candidate | Verdict:
    """Say what the bracket is that `text` begins with; `final`: no more text comes."""
    window = text[:LOOKAHEAD]
    open_ended = not final and len(window) < LOOKAHEAD
    found = _MARKER.match(window)
    if found is None:
        wait = open_ended and not before.blocked and _UNFINISHED.fullmatch(window)
        return Verdict.WAIT if wait else Verdict.TEXT
    numbers = _numbers(found["items"])
    if before.blocked or 0 in numbers:
        return Verdict.TEXT
    verdict = _by_what_follows(window[found.end() :], before, open_ended=open_ended)
    return Candidate(found.end(), numbers) if verdict is None else verdict


def _by_what_follows(behind: str, before: Before, *, open_ended: bool) -> Verdict | None:
    """Judge a bracket by the text behind it; None: it cites."""
    if not behind and open_ended:
        return Verdict.WAIT
    if behind.startswith("(") or (before.line_start and behind.startswith(":")):
        return Verdict.TEXT
    return _behind_identifier(behind, open_ended=open_ended) if before.identifier else None


def _behind_identifier(behind: str, *, open_ended: bool) -> Verdict | None:
    """Judge a bracket directly behind a word; None: it cites, as a sentence ends there."""
    while found := _MARKER.match(behind):
        behind = behind[found.end() :]
    if open_ended and (_MAYBE_SENTENCE_END.fullmatch(behind) or _UNFINISHED.fullmatch(behind)):
        return Verdict.WAIT
    return None if _SENTENCE_END.match(behind) else Verdict.TEXT


def _numbers(items: str) -> tuple[int, ...]:
    numbers: dict[int, None] = {}
    for item in re.split("[,;，、；]", items):
        bounds = _RANGE.search(item)
        first, last = (int(bounds[1]), int(bounds[2])) if bounds else (int(item), int(item))
        first, last = min(first, last), max(first, last)
        step = 1 if last - first <= _LONGEST_RANGE else last - first
        numbers.update(dict.fromkeys(range(first, last + 1, step)))
    return tuple(numbers)
