"""Which sentence a citation stands for, found while the answer is written.

A citation belongs to the sentence that it stands in, or directly behind (`… is so. [1]`). Where one sentence cites in
several places, each place stands for what was said since the place before, unless that is under three words
(`According to [1], …`): then for the whole sentence. What stands between two full stops counts, not grammar:
`e.g.`, `Nr. 5` and the like end no sentence, nor does a stop before a small letter (as in `sentence_ends`); a line end
does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from services.chat.markers import Marker

_FEW_WORDS = 3
_END = re.compile(r"[.!?…]+[\"'”’»)\]*_]*(?=\s)|[。！？]+[」』”）]*|\n")
_NO_END = re.compile(
    r"(?<![^\s(。！？」』”）])(?:[A-Za-zÄÖÜ]|\d{1,3}|e\.g|i\.e|z\.\s?B|d\.\s?h|p\.\s?ex|cf|vgl|bzw|ca|etc|approx|[Nn]r|[Ff]ig|[Ss]ec|vs|[DMP]rs?|[Nn]o|[Ss]t)\.$"
)
"""What stands before it is a blank or what else a sentence may begin behind: the same wherever the text was cut."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A marker and the range of what it stands for, in characters of the answer, half-open."""

    marker: Marker
    start: int
    end: int


class CitedSentences:
    """Follows one answer."""

    def __init__(self) -> None:
        self._text = ""
        """From the first sentence on that is not told yet."""
        self._offset = 0
        self._markers: list[Marker] = []

    def feed(self, text: str, markers: Sequence[Marker]) -> list[CitedSentence]:
        """Take the next piece; return the citations of every sentence that is complete by it, in order."""
        self._text += text
        self._markers += markers
        return self._told(self._masked(), final=False)

    def finish(self) -> list[CitedSentence]:
        """Return the citations of what is left."""
        return self._told(self._masked(), final=True)

    def _masked(self) -> str:
        """Return the open text with its markers blanked out, so that they are neither words nor ends."""
        masked = self._text
        for marker in self._markers:
            start, end = marker.start - self._offset, marker.end - self._offset
            masked = masked[:start] + " " * (end - start) + masked[end:]
        return masked

    def _told(self, masked: str, *, final: bool) -> list[CitedSentence]:
        begins = [0, *_begins(masked)]
        if final:
            begins.append(len(masked))
        told: list[CitedSentence] = []
        for start, end in pairwise(begins):
            inside = [marker for marker in self._markers if start <= marker.start - self._offset < end]
            told += _cited(masked[start:end], self._offset + start, inside)
        self._drop(begins[-1])
        return told

    def _drop(self, length: int) -> None:
        self._text = self._text[length:]
        self._offset += length
        self._markers = [marker for marker in self._markers if marker.start >= self._offset]


def _begins(masked: str) -> list[int]:
    """Return where sentences begin, the first one not included: at the first word or sign behind an end."""
    begins: list[int] = []
    for end in _END.finditer(masked):
        following = re.compile(r"\S").search(masked, end.end())
        if following is None:
            break
        goes_on = following[0].islower() and masked[end.end()].isspace() and end.group() != "\n"
        if not goes_on and not _NO_END.search(masked, max(0, end.end() - 12), end.end()):
            begins.append(following.start())
    return sorted(set(begins))


def _cited(masked: str, offset: int, markers: Sequence[Marker]) -> list[CitedSentence]:
    """Return what each marker of one sentence stands for."""
    if not markers:
        return []
    whole = _trimmed(masked, 0, len(masked))
    places = [list(place) for _, place in groupby(markers, lambda marker: _words_before(masked, marker.start - offset))]
    cuts = [0, *(place[-1].end - offset for place in places[:-1]), len(masked)]
    told: list[CitedSentence] = []
    for place, (start, end) in zip(places, pairwise(cuts), strict=True):
        part = masked[start : place[0].start - offset] if place is not places[-1] else masked[start:end]
        few = len(_WORD.findall(part)) < _FEW_WORDS
        first, last = whole if few else _trimmed(masked, start, start + len(part))
        told += [CitedSentence(marker, offset + first, offset + last) for marker in place]
    return told


def _words_before(masked: str, position: int) -> int:
    return len(_WORD.findall(masked[:position]))


def _trimmed(masked: str, start: int, end: int) -> tuple[int, int]:
    """Return the range without blanks, list signs and loose commas around it."""
    part = masked[start:end]
    left = len(part) - len(part.lstrip(" \t\n,;:*-+#>"))
    right = len(part.rstrip())
    return (start + min(left, right), start + right) if right else (start, start)
