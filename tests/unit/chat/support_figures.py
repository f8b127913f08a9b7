"""How well the support check tells labelled sentences apart; `python -m tests.unit.chat.support_figures` prints it.

The sentences (support_cases.json) are about pages of the sample vault: quoted, paraphrased, negated, with a number,
unit or date changed, with things swapped, true of another page, and true in part. Every third of each class is held
out: no threshold or word list was chosen by looking at it.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from services.chat.support import OverlapSupport
from shared.contracts.chat import SupportLabel

VAULT = Path(__file__).parents[3] / "deploy" / "embedded" / "sample_vault"
CASES = Path(__file__).with_name("support_cases.json")

LABELS: tuple[SupportLabel, ...] = ("quoted", "supported", "weak", "unsupported")
EXPECTED: dict[str, SupportLabel] = {"quoted": "quoted", "paraphrased": "supported", "partly": "weak"}
"""Of a class of sentences; the others say something else than their page: unsupported."""

TRUE = frozenset({"quoted", "paraphrased"})
FINE = frozenset({"quoted", "supported"})


@dataclass(frozen=True)
class Case:
    """A sentence, the page that it cites, and what kind of sentence it is."""

    kind: str
    page: str
    sentence: str
    held_out: bool


@dataclass
class Figures:
    """Labels by class of sentence."""

    labels: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    ms_per_sentence: float = 0.0

    def precision(self, label: SupportLabel) -> float:
        """Share of the sentences with this label that should have it."""
        given = sum(counts[label] for counts in self.labels.values())
        return self._right(label) / given if given else 1.0

    def recall(self, label: SupportLabel) -> float:
        """Share of the sentences that should have this label that have it."""
        expected = sum(counts.total() for kind, counts in self.labels.items() if _expected(kind) == label)
        return self._right(label) / expected if expected else 1.0

    def doubted(self, kinds: Iterable[str]) -> float:
        """Share of the sentences of some classes that are neither quoted nor supported."""
        counts = [self.labels[kind] for kind in kinds]
        return sum(each["weak"] + each["unsupported"] for each in counts) / sum(each.total() for each in counts)

    def _right(self, label: SupportLabel) -> int:
        return sum(counts[label] for kind, counts in self.labels.items() if _expected(kind) == label)


def measured(*, held_out: bool) -> Figures:
    """Check all sentences that are held out, or all others."""
    check = OverlapSupport().check
    figures = Figures()
    cases = [case for case in read_cases() if case.held_out == held_out]
    for case in cases:
        check("so that the page has been read", [page_text(case.page)])
    started = time.perf_counter()
    for case in cases:
        label = check(case.sentence, [page_text(case.page)]).label
        figures.labels.setdefault(case.kind, Counter())[label] += 1
    figures.ms_per_sentence = (time.perf_counter() - started) / len(cases) * 1000
    return figures


def read_cases() -> list[Case]:
    """Return the labelled sentences."""
    rows = json.loads(CASES.read_text(encoding="utf-8"))
    return [Case(row["class"], row["page"], row["sentence"], row["held_out"]) for row in rows]


@cache
def page_text(path: str) -> str:
    """Return a page of the sample vault without its front matter, as one passage."""
    return (VAULT / path).read_text(encoding="utf-8").split("\n---\n", 1)[1]


def _expected(kind: str) -> SupportLabel:
    return EXPECTED.get(kind, "unsupported")


def table(figures: Figures) -> Iterator[str]:
    """Yield the lines of a report."""
    yield f"{'sentences':12} {'':>4} " + " ".join(f"{label:>11}" for label in LABELS)
    for kind, counts in figures.labels.items():
        yield f"{kind:12} {counts.total():>4} " + " ".join(f"{counts[label]:>11}" for label in LABELS)
    yield f"{'precision':17} " + " ".join(f"{figures.precision(label):>11.2f}" for label in LABELS)
    yield f"{'recall':17} " + " ".join(f"{figures.recall(label):>11.2f}" for label in LABELS)
    untrue = figures.labels.keys() - TRUE
    yield f"doubted: {figures.doubted(untrue):.2f} of what is not true, {figures.doubted(TRUE):.2f} of what is"
    yield f"{figures.ms_per_sentence:.2f} ms a sentence"


if __name__ == "__main__":
    for part in (False, True):
        lines = ("held out" if part else "chosen by", *table(measured(held_out=part)))
        sys.stdout.write("\n".join(lines) + "\n\n")
