"""Phase 3: which passages fit. The budget holds for the text as it will be read: markers, titles and blank lines too.

Candidates are taken in the order of their rank, each whole or not at all; one that does not fit is dropped, and a
smaller one of lower rank may still take the place. Chunks of one page cost together what they are together: an overlap
is paid once. While other pages wait, no page takes more than its share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from services.retrieval.ports import LiveChunk
from shared.contracts.search import PageRef, Phase
from shared.tokens import CHARACTERS_PER_TOKEN, estimate_tokens

_JOINT_CHARS = 8
"""More than what stands between two chunks of a page; one chunk in the place of it saves so much."""

RETRIEVED_SHARE = 0.20
"""Of a reader's window: 60 % history, 20 % retrieved, 5 % grounding, 15 % answer (DESIGN §7)."""

DEFAULT_PAGE_SHARE = 0.5
"""Of the budget for one page while others wait: a question about one page gets most from it, and a second view."""

SEPARATOR = "\n\n"
"""Between two entries of the context."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A live chunk that wants to be in the context."""

    chunk: LiveChunk
    score: float
    similarity: float | None
    phase: Phase
    via: PageRef | None = None
    """In phase expansion: the page whose edge led here; `score` is the weight then."""


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


def select(
    candidates: Sequence[Candidate], budget: int, render: Render, page_share: float = DEFAULT_PAGE_SHARE
) -> Selection:
    """Return what fits into `budget` tokens; candidates come best first.

    A page's first passage has no limit but the budget; more of them may take `page_share` of it (0 to 1; 1: all) as
    long as other candidates wait, and what these leave. Of what is dropped, nothing would have fitted any more.

    The estimate is a sum over characters, rounded up, so the sum over entries bounds that of the whole text.
    """
    packing = _Packing(candidates, budget, render)
    waiting = packing.take(range(len(candidates)), page_share * budget)
    before = len(candidates) + 1
    while waiting and len(waiting) < before:  # each time that something was taken, overlaps with it cost less
        before, waiting = len(waiting), packing.take(waiting, budget)
    return packing.selection()


class _Packing:
    """What was taken so far; entries have the numbers in which pages came, which need not be the final ones."""

    def __init__(self, candidates: Sequence[Candidate], budget: int, render: Render) -> None:
        self._candidates = candidates
        self._render = render
        self._left = budget
        self._entries: dict[UUID, Entry] = {}
        self._refused: dict[int, Entry | None] = {}
        """Positions that did not fit beside the entry that their page had: without another, they never will."""

    def take(self, positions: Iterable[int], page_limit: float) -> list[int]:
        """Take what fits, in this order; return what does not. A page that met its limit waits with all its rest."""
        waiting: list[int] = []
        met: set[UUID] = set()
        for position in positions:
            page_id = self._candidates[position].chunk.page_id
            known = self._entries.get(page_id)
            grown = None if page_id in met else self._grown(position, known)
            if grown is None:
                waiting.append(position)
            elif known is not None and grown.tokens > page_limit:
                waiting.append(position)
                met.add(page_id)
            else:
                self._left -= grown.tokens - (known.tokens if known else 0)
                self._entries[page_id] = grown
        return waiting

    def selection(self) -> Selection:
        """Return the entries in the order of their best candidates; that changes no digit of their numbers in sum."""
        rank = {id(candidate): position for position, candidate in enumerate(self._candidates)}
        ranked = sorted(sorted(rank[id(each)] for each in entry.candidates) for entry in self._entries.values())
        entries = tuple(self._numbered(n, positions) for n, positions in enumerate(ranked, start=1))
        return Selection(entries, len(self._candidates) - sum(map(len, ranked)))

    def _grown(self, position: int, known: Entry | None) -> Entry | None:
        """Return the page's entry with the candidate in it; None when that does not fit."""
        candidate = self._candidates[position]
        if position in self._refused and self._refused[position] is known:
            return None
        if _least_tokens(candidate.chunk, known) <= self._left:
            taken = known.candidates if known else ()
            grown = self._entry(known.n if known else len(self._entries) + 1, (*taken, candidate))
            if grown.tokens - (known.tokens if known else 0) <= self._left:
                return grown
        self._refused[position] = known
        return None

    def _numbered(self, n: int, positions: Sequence[int]) -> Entry:
        candidates = tuple(self._candidates[position] for position in positions)
        entry = self._entries[candidates[0].chunk.page_id]
        return entry if (entry.n, entry.candidates) == (n, candidates) else self._entry(n, candidates)

    def _entry(self, n: int, candidates: tuple[Candidate, ...]) -> Entry:
        text = self._render(n, [each.chunk for each in candidates])
        return Entry(n, candidates, text, estimate_tokens(text + SEPARATOR))


def _least_tokens(chunk: LiveChunk, entry: Entry | None) -> int:
    """Return fewer tokens than an entry grows by, without rendering it, which costs more the longer it is."""
    if entry is None:
        return chunk.token_count
    fresh = chunk.char_end - chunk.char_start
    for each in entry.candidates:
        fresh -= max(0, min(chunk.char_end, each.chunk.char_end) - max(chunk.char_start, each.chunk.char_start))
    return (fresh - _JOINT_CHARS) // CHARACTERS_PER_TOKEN - 1
