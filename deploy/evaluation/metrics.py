"""Measures of one ranking against judgements. Pure.

As trec_eval and BEIR define them: the gain of a document is its grade, linear; the discount is log2(rank + 1); what was
not judged counts as not relevant. Sources: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques
(2002); Thakur et al., BEIR (2021).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence


def ndcg(ranking: Sequence[str], grades: Mapping[str, float], cutoff: int) -> float:
    """Return the discounted gain of the first `cutoff` documents over that of the best possible order, 0 to 1.

    `ranking` holds distinct ids, best first; `grades` at least one grade above 0, and grades of 0 or less gain nothing.
    """
    gained = _discounted([max(0.0, grades.get(each, 0.0)) for each in ranking[:cutoff]])
    ideal = _discounted(sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:cutoff])
    return gained / ideal


def reciprocal_rank(ranking: Sequence[str], relevant: Collection[str], cutoff: int) -> float:
    """Return 1 over the rank of the first relevant document, from 1; 0 when none is among the first `cutoff`."""
    return next((1 / rank for rank, each in enumerate(ranking[:cutoff], start=1) if each in relevant), 0.0)


def recall(ranking: Sequence[str], relevant: Collection[str], cutoff: int) -> float:
    """Return the share of the relevant documents, of which there is at least one, among the first `cutoff`."""
    return len(set(ranking[:cutoff]) & set(relevant)) / len(relevant)


def hit(ranking: Sequence[str], relevant: Collection[str], cutoff: int) -> float:
    """Return 1 when a relevant document is among the first `cutoff`, else 0."""
    return float(any(each in relevant for each in ranking[:cutoff]))


def separation(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """Return how often a number of the first kind is above one of the second, ties half (area under the ROC curve).

    1: a threshold tells them apart without error; 0.5: no better than chance; None when one kind is empty.
    """
    if not positives or not negatives:
        return None
    below = sorted(negatives)
    wins = sum((bisect_left(below, each) + bisect_right(below, each)) / 2 for each in positives)
    return wins / (len(positives) * len(negatives))


def percentile(numbers: Sequence[float], percent: float) -> float:
    """Return the smallest of the numbers that at least so many percent do not exceed (nearest rank); NaN for none."""
    if not numbers:
        return math.nan
    return sorted(numbers)[max(0, math.ceil(percent / 100 * len(numbers)) - 1)]


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
