"""A section that is too long for one chunk, split by size: at blocks, else at their parts, lines, sentences, words,
and only then between any two characters. Fenced blocks, tables and data blobs stay whole.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from services.ingest.text.data_blobs import Span
from services.ingest.text.markdown import Outline
from services.ingest.text.measure import TokenRuler
from services.ingest.text.sections import NOT_BLANK, Section


@dataclass(frozen=True, slots=True)
class ChunkerSettings:
    """Sizes of chunks in tokens, as `estimate_tokens` counts them."""

    target_tokens: int = 450
    """Fits the window of the bundled model with the title in front."""
    min_tokens: int = 400
    """A chunk of a split section is closed before the target only if it has so many."""
    max_tokens: int = 800
    """No chunk has more, except one that holds a fenced block, table or data blob that has."""
    overlap_tokens: int = 54
    """Twelve per cent of the target: how much a chunk of a split section repeats of the one before, at most."""


_SENTENCE_END = re.compile(r"""(?<=[.!?…])["'»”’)\]]{0,3}\s+|(?<=[。！？；])""")
_LINE_END = re.compile("\n")
_WORD = re.compile(r"\w")
_WORD_END = re.compile(r"\s+")
_RESTART = re.compile(rf"\n|{_SENTENCE_END.pattern}")
_STEP_CHARS = 48
"""Text without any blank is cut at multiples of this: a twelfth of a target chunk in dense scripts."""
_FINEST = 5


class Splitter:
    """Splits sections of one page."""

    def __init__(self, text: str, structure: Outline, wholes: Sequence[Span], settings: ChunkerSettings) -> None:
        """`wholes` are the ranges without a boundary inside, ascending and apart."""
        self.ruler = TokenRuler(text)
        self._text = text
        self._structure = structure
        self._settings = settings
        self._whole_starts = [start for start, _ in wholes]
        self._whole_ends = [end for _, end in wholes]

    def split(self, section: Section) -> list[Span]:
        """Return the spans of a section's chunks, in order, overlapping by at most `overlap_tokens`. Linear time."""
        if self.ruler.tokens(section.start, section.end) <= self._settings.max_tokens:
            return [(section.start, section.end)]
        spans, fresh = [(section.start, section.start)], [section.start]
        pieces = [(section.start, section.end, 0)]
        while pieces:
            piece = pieces.pop()
            start, end = spans[-1]
            verdict = self._verdict(section, spans[-1], fresh[-1], piece)
            if verdict == "add":
                spans[-1] = (start, piece[1])
            elif verdict == "add alone":
                spans[-1] = (fresh[-1], piece[1])
            elif verdict == "close":
                pieces.append(piece)
                fresh.append(end)
                spans.append((self._overlap_start(max(start + 1, section.text_start), end), end))
            else:
                pieces += reversed(list(self._finer(piece)))
        return self._with_tail_joined(spans, fresh)

    def _verdict(self, section: Section, span: Span, fresh: int, piece: tuple[int, int, int]) -> str:
        """Say what to do with the next piece. The span is empty but for its overlap when only blanks follow `fresh`.

        Blanks are always added, since a chunk is trimmed in the end and must not be blanks behind an overlap.
        """
        (start, end), settings = span, self._settings
        has, would_have = self.ruler.tokens(start, end), self.ruler.tokens(start, piece[1])
        is_empty = self._is_blank(fresh, end)
        if would_have <= settings.target_tokens or self._is_blank(piece[0], piece[1]):
            return "add"
        if has >= settings.min_tokens and not is_empty:
            return "close"
        if would_have <= settings.max_tokens:
            return "add"
        if not self._is_whole(piece):
            return "split"
        if is_empty or self._is_blank(section.text_start, end):
            return "add alone"
        return "close"

    def _is_blank(self, start: int, end: int) -> bool:
        return NOT_BLANK.search(self._text, start, end) is None

    def _is_whole(self, piece: tuple[int, int, int]) -> bool:
        """Tell whether nothing is left to cut: a whole with no more than marks around it, or the finest piece."""
        start, end, depth = piece
        index = bisect_left(self._whole_starts, end) - 1
        if depth > _FINEST or index < 0 or self._whole_ends[index] <= start:
            return depth > _FINEST
        before = _WORD.search(self._text, start, max(start, self._whole_starts[index]))
        return before is None and _WORD.search(self._text, self._whole_ends[index], end) is None

    def _finer(self, piece: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
        start, end, depth = piece
        at = start
        for cut in self._cuts(start, end, depth):
            if at < cut < end and not self._cuts_whole(cut):
                yield at, cut, depth + 1
                at = cut
        yield at, end, depth + 1

    def _cuts(self, start: int, end: int, depth: int) -> Iterable[int]:
        if depth < 2:
            starts = self._structure.part_starts if depth else self._structure.block_starts
            inside = starts[bisect_left(starts, start) : bisect_left(starts, end)]
            return (self._text.rfind("\n", start, at) + 1 for at in inside)
        if depth == 2:
            return (match.end() for match in _LINE_END.finditer(self._text, start, end))
        if depth < _FINEST:
            pattern = _SENTENCE_END if depth == 3 else _WORD_END
            return (match.end() for match in pattern.finditer(self._text, start, end))
        edges = [
            *self._whole_starts[bisect_left(self._whole_starts, start) : bisect_left(self._whole_starts, end)],
            *self._whole_ends[bisect_left(self._whole_ends, start) : bisect_left(self._whole_ends, end)],
        ]
        return sorted([*range(start + _STEP_CHARS, end, _STEP_CHARS), *edges])

    def _cuts_whole(self, at: int) -> bool:
        index = bisect_left(self._whole_starts, at) - 1
        return index >= 0 and self._whole_ends[index] > at

    def _overlap_start(self, lowest: int, end: int) -> int:
        """Return where the chunk after one that ends at `end` begins; never before `lowest`, never inside a whole."""
        overlap = self._settings.overlap_tokens
        first = max(lowest, self.ruler.back(end, overlap))
        index = bisect_left(self._whole_starts, end) - 1
        if index >= 0:
            first = max(first, self._whole_ends[index])
        if first >= end:
            return end
        restarts = (match.end() for match in _RESTART.finditer(self._text, first - 1, end))
        restart = next((at for at in restarts if at >= first), end)
        if self.ruler.tokens(restart, end) * 2 >= overlap and restart < end:
            return restart
        word = _WORD_END.search(self._text, first - 1, end)
        return min(word.end() if word else first, end)

    def _with_tail_joined(self, spans: list[Span], fresh: list[int]) -> list[Span]:
        """Join a short last chunk to the one before where both fit together."""
        if len(spans) > 1 and self.ruler.tokens(fresh[-1], spans[-1][1]) < self._settings.min_tokens:
            together = (spans[-2][0], spans[-1][1])
            if self.ruler.tokens(*together) <= self._settings.max_tokens:
                return [*spans[:-2], together]
        return spans
