"""What every judged set comes down to: documents that become a vault, and questions with what answers them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

from deploy.evaluation.spans import Span

Measure = Literal["pages", "answers", "spans"]
"""`pages`: rankings of pages; `answers`: that, and whether the answer's words were retrieved; `spans`: characters."""

SAMPLE_SEED = 7
"""Of `sampled`; any number will do, as long as it stays the same from run to run."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question and its judgements."""

    id: str
    text: str
    grades: Mapping[str, float] = field(default_factory=dict[str, float])
    """Document id to grade, above 0 all; empty: nothing answers it."""
    kind: str = "all"
    """Questions of one kind are averaged."""
    phrase: str | None = None
    """Words that only a retrieved answer holds."""
    reference: str | None = None
    """An answer in words of its own."""
    spans: tuple[Span, ...] = ()
    """What of the files answers it."""


class Source(Protocol):
    """Where a set's documents come from."""

    def write(self, folder: Path) -> Mapping[str, str]:
        """Fill an empty folder with a vault; return the pages' paths (NFC, with slashes) and the ids of the documents.

        Raises InvalidInput when the documents are not as they should be.
        """
        ...


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """A set that was read; its documents are read when its vault is made."""

    name: str
    measure: Measure
    questions: tuple[Question, ...]
    source: Source
    notes: tuple[str, ...] = ()
    """What was left out and why, in sentences."""


def sampled(judged: JudgedSet, limit: int | None, seed: int = SAMPLE_SEED) -> JudgedSet:
    """Return the set with at most `limit` questions, always the same ones, in their order; None leaves it whole."""
    if limit is None or limit >= len(judged.questions):
        return judged
    chosen = sorted(random.Random(seed).sample(range(len(judged.questions)), limit))
    note = f"{limit:,} of {len(judged.questions):,} questions, drawn with seed {seed}."
    return replace(judged, questions=tuple(judged.questions[each] for each in chosen), notes=(*judged.notes, note))
