"""Several rankings made one, by reciprocal rank: scores of different kinds are never added up.

Method: Cormack, Clarke, Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods",
SIGIR 2009.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

RANK_CONSTANT = 60.0
"""Dampens the lead of the first ranks; 60 as in the paper."""


def fuse(
    rankings: Sequence[Sequence[UUID]], weights: Sequence[float], k: float = RANK_CONSTANT
) -> list[tuple[UUID, float]]:
    """Return ids with Σ weight / (k + rank) over the rankings that hold them, rank from 1; best first, ties by id.

    Each ranking holds an id once at most.
    """
    scores: defaultdict[UUID, float] = defaultdict(float)
    for ranking, weight in zip(rankings, weights, strict=True):
        for rank, chunk_id in enumerate(ranking, start=1):
            scores[chunk_id] += weight / (k + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def place_score(place: int, k: float = RANK_CONSTANT) -> float:
    """Return the score of a hit whose place says more than its score, place from 1."""
    return 1.0 / (k + place)


def reasons(*whys: str | None) -> str | None:
    """Return why retrievers did not run whole, each once, as one sentence after another; None when all did."""
    return " ".join(dict.fromkeys(why for why in whys if why)) or None
