"""Where a Markdown text is code, told character by character as it is written.

Fences open on a line of their own (behind blanks, quotation marks or one list bullet) with three or more backticks or
tildes, and last until a line with as many, or until the end when none comes. A code span opens with a run of backticks
and lasts until a run of the same length, or until the paragraph ends: while a text streams nobody can know whether the
run that closes it will come. Indented code is not told apart: in answers indentation is that of lists.
Source: https://spec.commonmark.org/0.31.2/#fenced-code-blocks and #code-spans.
"""

from __future__ import annotations

import re

_BEFORE_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])?[ \t]*)?")
_FENCE_RUN = 3
_LONGEST_PREFIX = 100
"""Characters before a fence that are looked at: deeper lists than anyone writes."""


class CodeRegions:
    """Follows one text; `feed` every character in order."""

    def __init__(self) -> None:
        self._line = ""
        """What the line holds so far, while that may stand before a fence."""
        self._bare_line = True
        """Only such text came on this line."""
        self._blank_line = True
        self._run = ""
        """Backticks or tildes that may go on."""
        self._span = 0
        """Length of the run that opened the code span; 0: none is open."""
        self._fence = ""
        """The run that opened the fence; empty: none is open."""
        self._opening_line = False
        """On the line that opened the fence."""
        self._closing = False
        """Only blanks came behind a run that closes the fence if the line ends so."""

    def in_code(self, following: str) -> bool:
        """Tell whether `following`, the character that comes next (neither backtick nor tilde), stands in code."""
        self._end_run(following)
        return bool(self._span or self._fence)

    def feed(self, character: str) -> None:
        """Take the next character."""
        self._end_run(character)
        if character in "`~":
            self._run += character
        elif character == "\n":
            self._end_line()
        else:
            self._extend_line(character)

    def _extend_line(self, character: str) -> None:
        if not character.isspace():
            self._blank_line = self._closing = False
        if self._bare_line:
            self._line += character
            self._bare_line = len(self._line) < _LONGEST_PREFIX and self._may_open()

    def _may_open(self) -> bool:
        bare = self._line.strip(" \t>")
        return not bare or re.fullmatch(r"[-*+]|\d{1,9}[.)]?", bare) is not None

    def _end_line(self) -> None:
        if self._blank_line:
            self._span = 0  # the paragraph is over
        if self._closing:
            self._fence = ""
        self._line, self._bare_line, self._blank_line = "", True, True
        self._opening_line = self._closing = False

    def _end_run(self, following: str) -> None:
        run = self._run
        if not run or following == run[0]:
            return
        opens_line = self._bare_line and _BEFORE_FENCE.fullmatch(self._line) is not None
        self._run, self._blank_line, self._bare_line = "", False, False
        if self._fence:
            self._end_run_in_fence(run, opens_line=opens_line)
        elif opens_line and not self._span and len(run) >= _FENCE_RUN:
            self._fence, self._opening_line = run, True
        elif run[0] == "`":
            self._span = 0 if self._span == len(run) else self._span or len(run)

    def _end_run_in_fence(self, run: str, *, opens_line: bool) -> None:
        if self._opening_line and run[0] == "`" == self._fence[0]:  # ```x``` is a code span after all
            self._span = 0 if len(run) == len(self._fence) else len(self._fence)
            self._fence, self._opening_line = "", False
        else:
            self._closing = opens_line and run.startswith(self._fence)
