"""Phase 4: the context as text, and beside it what each `[n]` is.

An entry is `[n] title`, a line end, and the passage: the chosen chunks of one page in the order of the page, what two
of them share written once, `…` where the page has more between them. Entries are separated by a blank line.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from services.retrieval.budget import SEPARATOR, Candidate, Entry, Selection
from services.retrieval.markers import neutralised
from services.retrieval.ports import LiveChunk
from services.retrieval.staleness import staleness
from shared.contracts.search import Citation, PageRef, Passage, SearchResult

_GAP = "\n\n…\n\n"
"""Between chunks that are no neighbours; an ellipsis is what readers know for left-out text."""

_BREAK = "\n\n"
"""Between neighbours that do not touch: the chunker leaves only blank space out."""


def entry_text(n: int, chunks: Sequence[LiveChunk]) -> str:
    """Return how an entry reads; the only marker in it is its own."""
    title = " ".join(chunks[0].title.split()) or chunks[0].slug
    return f"[{n}] " + neutralised(f"{title}\n{joined(chunks)}")


def joined(chunks: Sequence[LiveChunk]) -> str:
    """Return the text of one page's chunks in the order of the page, overlaps once."""
    ordered = sorted(chunks, key=lambda chunk: (chunk.char_start, chunk.char_end))
    parts = [ordered[0].text]
    for before, after in _steps(ordered):
        if after.char_end <= before.char_end:
            continue
        overlap = before.char_end - after.char_start
        if overlap < 0:
            parts.append(_BREAK if after.index == before.index + 1 else _GAP)
        parts.append(after.text[max(0, overlap) :])
    return "".join(parts)


def _steps(ordered: Sequence[LiveChunk]) -> list[tuple[LiveChunk, LiveChunk]]:
    """Return each chunk with the one before it that reaches farthest."""
    reach = ordered[0]
    steps: list[tuple[LiveChunk, LiveChunk]] = []
    for _, chunk in pairwise(ordered):
        steps.append((reach, chunk))
        reach = max(reach, chunk, key=lambda each: each.char_end)
    return steps


def context_text(selection: Selection) -> str:
    """Return the whole context; empty when nothing was selected."""
    return SEPARATOR.join(entry.text for entry in selection.entries)


def page_ref(chunk: LiveChunk) -> PageRef:
    """Return the chunk's page as a reader names it."""
    return PageRef(id=chunk.page_id, title=chunk.title, slug=chunk.slug)


def passage(chunk: LiveChunk) -> Passage:
    """Return where a chunk stands."""
    return Passage(
        chunk_id=chunk.chunk_id,
        content_hash=chunk.content_hash,
        revision=chunk.revision,
        heading_path=chunk.heading_path,
        char_start=chunk.char_start,
        char_end=chunk.char_end,
        line_start=chunk.line_start,
        line_end=chunk.line_end,
    )


def citations(selection: Selection) -> tuple[Citation, ...]:
    """Return one citation per entry, in the order of their numbers; passages in the order of the page."""
    return tuple(_citation(entry) for entry in selection.entries)


def _citation(entry: Entry) -> Citation:
    best = max(entry.candidates, key=lambda candidate: candidate.score)
    cosines = [candidate.similarity for candidate in entry.candidates if candidate.similarity is not None]
    return Citation(
        n=entry.n,
        ref=page_ref(best.chunk),
        path=best.chunk.disk_path,
        score=best.score,
        phase=best.phase,
        similarity=max(cosines, default=None),
        passages=tuple(passage(chunk) for chunk in _in_page_order(entry.candidates)),
        stale=staleness(best.chunk),
        weight=best.score if best.phase == "expansion" else None,
        via=best.via,
    )


def _in_page_order(candidates: Sequence[Candidate]) -> list[LiveChunk]:
    return sorted((candidate.chunk for candidate in candidates), key=lambda chunk: (chunk.char_start, chunk.index))


def results(cited: Sequence[Citation]) -> tuple[SearchResult, ...]:
    """Return the citations as the flat list that a result page shows."""
    return tuple(
        SearchResult(
            n=each.n,
            id=each.ref.id,
            title=each.ref.title,
            slug=each.ref.slug,
            score=each.score,
            phase=each.phase,
            stale=each.stale is not None,
            weight=each.weight,
            via=each.via.id if each.via else None,
        )
        for each in cited
    )
