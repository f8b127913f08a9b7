"""Data that stands in text: images in base64, drawings, keys. Nobody searches for it, and it would drown the words."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from services.ingest.text.markdown import Solid

MIN_BLOB_CHARS = 256
"""No word, path or identifier is so long; a hash or a key may be shorter and may be searched for."""

Span = tuple[int, int]
"""Half-open, in characters."""

_STRIDE = MIN_BLOB_CHARS // 2
_ALPHABET = "A-Za-z0-9+/=_-"
_FULL_STRIDE = re.compile(f"[{_ALPHABET}]{{{_STRIDE}}}")
_RUN = re.compile(f"[{_ALPHABET}]+")
_NOT_IN_RUN = re.compile(f"[^{_ALPHABET}]")
_DATA_URI = re.compile(rf"data:[^\s,()<>\"']{{0,200}};base64,[%{_ALPHABET}]*")
_MIXED = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))
_EXCALIDRAW = re.compile(r'"type"\s*:\s*"excalidraw"')
_DRAWING_HEAD_CHARS = 300
"""So near to its start a drawing in JSON says that it is one."""


def blobs(text: str) -> list[Span]:
    """Return the half-open ranges of data URIs and of long runs of base64, ascending and apart. Linear time."""
    uris = [match.span() for match in _DATA_URI.finditer(text)] if "base64," in text else []
    return joined([*uris, *_long_runs(text)])


def drawings(text: str, solids: Iterable[Solid]) -> list[Span]:
    """Return the ranges of the fenced blocks that are drawings of Excalidraw, compressed or in JSON."""
    return [(solid.start, solid.end) for solid in solids if solid.info is not None and _is_drawing(text, solid)]


def _is_drawing(text: str, solid: Solid) -> bool:
    if solid.info == "compressed-json":
        return True
    end = min(solid.end, solid.start + _DRAWING_HEAD_CHARS)
    return bool(_EXCALIDRAW.search(text, solid.start, end))


def _long_runs(text: str) -> Iterator[Span]:
    """Look at every 128th character only: a run of 256 holds one of these strides whole."""
    done = 0
    for at in range(0, len(text) - _STRIDE + 1, _STRIDE):
        if at < done or not _FULL_STRIDE.match(text, at):
            continue
        breaks = [match.end() for match in _NOT_IN_RUN.finditer(text, max(done, at - _STRIDE), at)]
        start = breaks[-1] if breaks else max(done, at - _STRIDE)
        run = _RUN.match(text, start)
        done = run.end() if run else at
        head = text[start : start + MIN_BLOB_CHARS]
        if done - start >= MIN_BLOB_CHARS and all(kind.search(head) for kind in _MIXED):
            yield start, done


def joined(spans: Iterable[Span]) -> list[Span]:
    """Return ranges ascending and apart: those that touch become one."""
    result = list[Span]()
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def without(text: str, spans: Sequence[Span], start: int, end: int) -> str:
    """Return `text[start:end]` without what lies in `spans` (ascending and apart)."""
    first, last = max(0, bisect_left(spans, (start, start)) - 1), bisect_left(spans, (end, end))
    inside = [(max(a, start), min(b, end)) for a, b in spans[first:last] if b > start]
    if not inside:
        return text[start:end]
    edges = [(start, start), *inside, (end, end)]
    return " ".join(text[left[1] : right[0]] for left, right in pairwise(edges))
