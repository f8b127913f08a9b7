"""Which variants are compared with which: profiles with the first one, depths with the first one. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from deploy.evaluation.asking import Variant
from deploy.evaluation.intervals import Estimate, paired_difference
from deploy.evaluation.questions import Question
from deploy.evaluation.scoring import EVERYTHING, Score


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better one variant is than another, on the questions of one kind."""

    of: Variant
    over: Variant
    kind: str
    measure: str
    difference: Estimate

    @property
    def verdict(self) -> str:
        """`better`, `worse`, or `no difference` where 0 lies within the interval."""
        if not self.difference.excludes_zero:
            return "no difference"
        return "better" if self.difference.mean > 0 else "worse"


def compare(questions: Sequence[Question], scores: Mapping[Variant, Score]) -> tuple[Difference, ...]:
    """Return the differences of every pair that is worth looking at, for every kind of question and every measure."""
    kinds = _kinds(questions)
    return tuple(
        Difference(of, over, kind, measure, difference)
        for of, over in _pairs(list(scores))
        for kind, ids in kinds.items()
        for measure in _measures(scores[of])
        if (difference := _difference(scores[of], scores[over], ids, measure)) is not None
    )


def _pairs(variants: Sequence[Variant]) -> Iterator[tuple[Variant, Variant]]:
    """Yield the first profile against each other one, then each deeper expansion against the shallowest."""
    if not variants:
        return
    first, shallowest = variants[0].profile, min(variant.depth for variant in variants)
    for variant in variants:
        rival = replace(variant, profile=first)
        if variant != rival and rival in variants:
            yield rival, variant
    for variant in variants:
        rival = replace(variant, depth=shallowest)
        if variant != rival and rival in variants:
            yield variant, rival


def _kinds(questions: Sequence[Question]) -> dict[str, set[str]]:
    kinds: dict[str, set[str]] = {}
    for question in questions:
        kinds.setdefault(question.kind, set()).add(question.id)
    return kinds if len(kinds) == 1 else {**kinds, EVERYTHING: {question.id for question in questions}}


def _measures(score: Score) -> list[str]:
    return list(dict.fromkeys(name for values in score.by_question.values() for name in values))


def _difference(of: Score, over: Score, ids: set[str], measure: str) -> Estimate | None:
    def values(score: Score) -> dict[str, float]:
        return {
            each: values[measure] for each, values in score.by_question.items() if each in ids and measure in values
        }

    return paired_difference(values(of), values(over))
