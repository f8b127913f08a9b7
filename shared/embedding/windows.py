"""Texts longer than a model's window: cut into windows, embed each, pool the vectors into one.

The pooled vector is the mean of the window vectors weighted by their tokens, brought back to length 1, so that every
part of a long text can be found. Windows of one text are of nearly equal size: a short last one would carry noise.
A text of more windows than the limit is read in that many windows spread evenly from its first word to its last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shared.embedding.embedder import Vector, Vectors

MAX_WINDOWS = 64
"""Windows that one text may cost; with the bundled model about 13 CPU seconds and 25,000 English words."""

_TOKEN = re.compile(
    r"[a-zA-Z]{1,5}|[0-9]{1,2}|[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]|[^\W\d_]{1,2}|\S|\s{16}"
)
"""About one token of a sub-word tokenizer. It errs to more, because a provider refuses or cuts what is too long: up to
five ASCII letters, two digits, one character of Chinese, Japanese or Korean, two letters of other scripts, one mark."""


@dataclass(frozen=True, slots=True)
class WindowLimits:
    """`max_tokens` (estimated) per window, at most `max_windows` per text; both at least 1."""

    max_tokens: int
    max_windows: int = MAX_WINDOWS


@dataclass(frozen=True, slots=True)
class Window:
    """A contiguous part of a text, and what its vector weighs: its estimated tokens, or 1 when it is the whole text."""

    text: str
    weight: int


def spread(count: int, size: int, limit: int) -> list[tuple[int, int]]:
    """Return half-open ranges over `count` tokens, each of at most `size`, at most `limit` of them, in order.

    They cover everything without overlap when that takes no more than `limit`; otherwise the first one starts at 0,
    the last one ends at `count`, and the gaps are even. A count of 0 gives one empty range.
    """
    needed = max(1, -(-count // size))
    if needed <= limit:
        return [(i * count // needed, (i + 1) * count // needed) for i in range(needed)]
    steps = max(1, limit - 1)
    return [(start, start + size) for start in (i * (count - size) // steps for i in range(limit))]


def split_windows(text: str, limits: WindowLimits) -> list[Window]:
    """Return the windows of a text by estimated tokens; joined they are the text, unless it is beyond the limit."""
    if len(text) <= limits.max_tokens:  # an estimated token has at least one character
        return [Window(text, 1)]
    starts = [match.start() for match in _TOKEN.finditer(text)]
    if len(starts) <= limits.max_tokens:
        return [Window(text, 1)]
    ranges = spread(len(starts), limits.max_tokens, limits.max_windows)
    starts = [0, *starts[1:], len(text)]
    return [Window(text[starts[low] : starts[high]], high - low) for low, high in ranges]


def unit_rows(rows: Vectors) -> Vectors:
    """Return the rows, shape (n, d), brought to length 1 as float32; a row of zeros stays zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, np.where(lengths == 0, 1, lengths), dtype=np.float32)


def pool(vectors: Vectors, weights: Sequence[int]) -> Vector:
    """Return the unit vector of a text from the unit vectors of its windows, shape (n, d), n >= 1, and their weights.

    Vectors that cancel each other out give the first one.
    """
    if len(vectors) == 1:
        return vectors[0]
    mean = np.average(vectors, axis=0, weights=np.asarray(weights, dtype=np.float32))
    length = float(np.linalg.norm(mean))
    return vectors[0] if length < 1e-6 else np.asarray(mean / length, dtype=np.float32)
