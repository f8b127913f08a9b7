"""Phase 3: which passages fit. The budget holds for the text as it will be read: markers, titles and blank lines too.

Candidates are taken in the order of their rank, each whole or not at all; one that does not fit is dropped, and a
smaller one of lower rank may still take the place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from services.retrieval.ports import LiveChunk
from shared.contracts.search import Phase
from shared.tokens import estimate_tokens

RETRIEVED_SHARE = 0.20
"""Of a reader's window: 60 % history, 20 % retrieved, 5 % grounding, 15 % answer (DESIGN §7)."""

SEPARATOR = "\n\n"
"""Between two entries of the context."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A live chunk that wants to be in the context."""

    chunk: LiveChunk
    score: float
    similarity: float | None
    phase: Phase


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands under one `[n]`: the chosen chunks of one page, best first, and how they read together."""

    n: int
    candidates: tuple[Candidate, ...]
    text: str
    tokens: int
    """Of the text and the separator behind it."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Entries in the order of their best candidate, numbered from 1 without a gap."""

    entries: tuple[Entry, ...]
    dropped: int
    """Candidates that did not fit."""


Render = Callable[[int, Sequence[LiveChunk]], str]
"""Gives the text of an entry from its number and chunks."""


def budget_tokens(context_window: int) -> int:
    """Return how many tokens of a window the retrieved text may take."""
    return int(context_window * RETRIEVED_SHARE)


def select(candidates: Sequence[Candidate], budget: int, render: Render) -> Selection:
    """Return what fits into `budget` tokens; candidates come best first.

    The estimate is a sum over characters, rounded up, so the sum over entries bounds that of the whole text.
    """
    entries: dict[UUID, Entry] = {}
    left = budget
    dropped = 0
    for candidate in candidates:
        known = entries.get(candidate.chunk.page_id)
        entry = _extended(known, candidate, left, len(entries) + 1, render)
        grown = 0 if entry is None else entry.tokens - (known.tokens if known else 0)
        if entry is None or grown > left:
            dropped += 1
            continue
        entries[candidate.chunk.page_id] = entry
        left -= grown
    return Selection(tuple(entries.values()), dropped)


def _extended(known: Entry | None, candidate: Candidate, left: int, next_n: int, render: Render) -> Entry | None:
    """Return the entry with the candidate in it; None, without rendering, when a new entry can't fit anyway."""
    if known is None and candidate.chunk.token_count > left:
        return None
    n = next_n if known is None else known.n
    candidates = (*(known.candidates if known else ()), candidate)
    text = render(n, [each.chunk for each in candidates])
    return Entry(n, candidates, text, estimate_tokens(text + SEPARATOR))
