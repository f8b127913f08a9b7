"""Pages that are older than a source that they rest on: marked in their citation, and ranked a little lower. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from services.retrieval.budget import Candidate
from services.retrieval.ports import LiveChunk
from shared.contracts.search import Staleness


def staleness(chunk: LiveChunk) -> Staleness | None:
    """Return how the chunk's page is older than its newest source; None when it is not known to be."""
    newer = chunk.newer_source
    if newer is None:
        return None
    return Staleness(
        source_path=newer.path,
        source_date=newer.written_on,
        page_date=newer.page_as_of,
        by_file_time=newer.by_file,
    )


def yielding(candidates: Sequence[Candidate], places: int) -> tuple[Candidate, ...]:
    """Return the candidates, best first, each stale one behind at most `places` others that are not; 0: as they are.

    Places, and not a share of the score: scores of one profile are ranks, of another cosines or logits, so that no
    factor would mean the same for all. The order within the stale ones stays, and so does that within the others.
    """
    stale = [candidate.chunk.newer_source is not None for candidate in candidates]
    if places == 0 or not any(stale):
        return tuple(candidates)
    order = sorted(range(len(candidates)), key=lambda rank: (rank + places * stale[rank], stale[rank]))
    return tuple(candidates[rank] for rank in order)
