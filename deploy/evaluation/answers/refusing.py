"""How well an answerer knows what it does not know: refusals against questions that nothing answers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deploy.evaluation.intervals import Estimate, estimate_of


@dataclass(frozen=True, slots=True)
class Refusals:
    """Refusing is what is to be found: a right one is a question that nothing answers."""

    answerable: int
    unanswerable: int
    refused: int
    precision: Estimate
    """Share of the refusals that were right; 0 when nothing was refused."""
    recall: Estimate
    """Share of the questions without an answer that were refused."""
    f1: Estimate


def score_refusals(rows: Sequence[tuple[bool, bool]]) -> Refusals | None:
    """Return the figures of (nothing answers it, it was refused) per question; None unless both kinds were asked."""
    table = np.asarray(rows, dtype=np.bool_).reshape(-1, 2)
    unanswerable = int(table[:, 0].sum())
    if not 0 < unanswerable < len(table):
        return None
    return Refusals(
        answerable=len(table) - unanswerable,
        unanswerable=unanswerable,
        refused=int(table[:, 1].sum()),
        precision=estimate_of(_precision, table),
        recall=estimate_of(_recall, table),
        f1=estimate_of(_f1, table),
    )


def _right(table: NDArray[np.bool_]) -> int:
    return int((table[:, 0] & table[:, 1]).sum())


def _precision(table: NDArray[np.bool_]) -> float:
    return _right(table) / max(1, int(table[:, 1].sum()))


def _recall(table: NDArray[np.bool_]) -> float:
    return _right(table) / max(1, int(table[:, 0].sum()))


def _f1(table: NDArray[np.bool_]) -> float:
    return 2 * _right(table) / max(1, int(table.sum()))
