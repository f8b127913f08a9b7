"""What stands beside the best chunks on their pages: where a reader would go on, for what the budget has left."""

from __future__ import annotations

from collections.abc import Sequence

from services.retrieval.budget import Candidate
from services.retrieval.ports import LivePages


async def beside(
    pages: LivePages, vault_id: str, found: Sequence[Candidate], count: int, data_version: int
) -> tuple[Candidate, ...]:
    """Return the chunks before and behind each of the first `count` of `found`, best first, none that was found.

    They count as found with their neighbour: its score and phase, no similarity of their own. None when the vault is
    at another data version by now: a context holds one version only. Raises as LivePages.beside does.
    """
    best = found[:count]
    snapshot = await pages.beside(vault_id, [each.chunk.chunk_id for each in best])
    if snapshot.vault.data_version != data_version:
        return ()
    known = {each.chunk.chunk_id for each in found}
    places = {(each.chunk.page_id, each.chunk.index + step): each for each in reversed(best) for step in (-1, 1)}
    return tuple(
        Candidate(chunk, near.score, None, near.phase)
        for chunk in snapshot.chunks.values()
        if chunk.chunk_id not in known and (near := places.get((chunk.page_id, chunk.index))) is not None
    )
