"""Measures of retrieved passages against gold spans, in characters. Pure.

After Smith and Troynikov, Evaluating Chunking Strategies for Retrieval (Chroma, 2024), counting characters instead of
tokens: a gold character counts once however often it was retrieved, while text that was retrieved twice, as chunks
overlap, is paid for twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Range = tuple[int, int]
"""Half-open, in characters of the decoded file."""


@dataclass(frozen=True, slots=True)
class Span:
    """A range of one file."""

    path: str
    """Relative to the vault, NFC."""
    start: int
    end: int
    """Exclusive."""


@dataclass(frozen=True, slots=True)
class SpanScore:
    """Each 0 to 1."""

    recall: float
    """Share of the gold characters that were retrieved."""
    precision: float
    """Share of the retrieved characters that are gold."""
    iou: float
    """Characters that are both over characters that are either."""


def score_spans(gold: Sequence[Span], retrieved: Sequence[Span]) -> SpanScore:
    """Return the measures of one question; `gold` holds at least one character, `retrieved` may be empty."""
    found = wanted = 0
    for path in {span.path for span in gold}:
        ranges = merged([(span.start, span.end) for span in gold if span.path == path])
        wanted += _length(ranges)
        found += shared_length(ranges, merged([(span.start, span.end) for span in retrieved if span.path == path]))
    paid = sum(max(0, span.end - span.start) for span in retrieved)
    return SpanScore(found / wanted, found / paid if paid else 0.0, found / (paid + wanted - found))


def merged(ranges: Sequence[Range]) -> list[Range]:
    """Return the same characters as ranges in order that neither touch nor overlap; empty ranges go."""
    joined: list[Range] = []
    for start, end in sorted(each for each in ranges if each[0] < each[1]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def shared_length(first: Sequence[Range], second: Sequence[Range]) -> int:
    """Return how many characters are in both; each must be as `merged` returns it."""
    return sum(
        max(0, min(end, other_end) - max(start, other_start))
        for start, end in first
        for other_start, other_end in second
    )


def _length(ranges: Sequence[Range]) -> int:
    return sum(end - start for start, end in ranges)
