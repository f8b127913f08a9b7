"""What a set's answers came to, as text and rows. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from deploy.evaluation.answers.running import AnswersOutcome
from deploy.evaluation.answers.scoring import AnswerConduct, Time
from deploy.evaluation.tables import Rows, Section, facts, kind_cell, with_interval


def answers_section(outcome: AnswersOutcome) -> Section:
    """Return what is shown of a set's answers."""
    name = f"{outcome.about.judged.name}: answers"
    tables = (_means(outcome), _refusals(outcome), _times(outcome))
    return Section(name, facts(outcome.about, len(outcome.asked)), tables, tuple(_remarks(outcome)))


def _means(outcome: AnswersOutcome) -> Rows:
    """Return one row per variant and kind of question."""
    kinds = [kind for score in outcome.scores.values() for kind in score.by_kind.values()]
    names = list(dict.fromkeys(name for kind in kinds for name in kind))
    return Rows(
        ("profile", "questions", *names),
        2,
        [
            (variant.profile, kind_cell(kind, estimates), *(with_interval(estimates.get(name)) for name in names))
            for variant, score in outcome.scores.items()
            for kind, estimates in score.by_kind.items()
        ],
    )


def _refusals(outcome: AnswersOutcome) -> Rows:
    return Rows(
        ("profile", "answerable", "not", "refused", "refusal precision", "refusal recall", "refusal F1"),
        1,
        [
            (
                variant.profile,
                *(f"{count:,}" for count in (found.answerable, found.unanswerable, found.refused)),
                *map(with_interval, (found.precision, found.recall, found.f1)),
            )
            for variant, score in outcome.scores.items()
            if (found := score.refusals) is not None
        ],
    )


def _times(outcome: AnswersOutcome) -> Rows:
    names = list(dict.fromkeys(name for score in outcome.scores.values() for name in score.times))
    return Rows(
        ("ms, p50 / p99", *names),
        1,
        [
            (variant.profile, *(_time_cell(score.times.get(name)) for name in names))
            for variant, score in outcome.scores.items()
        ],
    )


def _time_cell(time: Time | None) -> str:
    return "" if time is None else f"{time.p50_ms:.1f} / {time.p99_ms:.1f}"


def _remarks(outcome: AnswersOutcome) -> Iterator[str]:
    yield from outcome.about.notes
    for variant, why in outcome.failures.items():
        yield f"{variant.label}: not measured: {why}"
    for variant, score in outcome.scores.items():
        yield f"{variant.label}: answered by {', '.join(score.answered_by) or 'nobody'}."
        yield from (f"{variant.label}: {remark}" for remark in _conduct(score.conduct))


def _conduct(conduct: AnswerConduct) -> Iterator[str]:
    if conduct.failed:
        yield f"{conduct.failed:,} turns failed; they are not answered: {conduct.first_failure}"
    if conduct.uncited:
        yield f"{conduct.uncited:,} whole answers cite nothing."
    if conduct.false_quotes:
        yield f"{conduct.false_quotes:,} sentences are called quotes, but their words are not in what they cite."
    if conduct.removed_markers:
        yield f"{conduct.removed_markers:,} numbers that were never given were removed from the texts."
