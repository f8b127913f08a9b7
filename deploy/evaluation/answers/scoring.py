"""From answers to figures: one value per question and measure, then means with their intervals, refusals and times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from deploy.evaluation.answers.asking import Told
from deploy.evaluation.answers.judging import CitedSentence, cited_sentences, judge
from deploy.evaluation.answers.library import Library
from deploy.evaluation.answers.questions import Asked
from deploy.evaluation.answers.refusing import Refusals, score_refusals
from deploy.evaluation.intervals import Estimate
from deploy.evaluation.metrics import percentile
from deploy.evaluation.scoring import EVERYTHING, Values, means_of
from shared.contracts.chat import TurnCancelled, TurnFailed


@dataclass(frozen=True, slots=True)
class Time:
    """Milliseconds over all questions that have them."""

    p50_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class AnswerConduct:
    """Where these are not 0, mistrust the figures."""

    failed: int
    """Turns that ended by an error or were cancelled; they count as neither answered nor refused."""
    first_failure: str | None
    uncited: int
    """Whole answers that cite nothing."""
    false_quotes: int
    """Sentences that the service calls quotes although their words are not in what they cite."""
    removed_markers: int
    """Numbers that a provider made up."""


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """What one variant came to."""

    by_kind: Mapping[str, Mapping[str, Estimate]]
    """Kind of question to measure to mean; all that can be answered together under EVERYTHING."""
    by_question: Mapping[str, Values]
    texts: Mapping[str, str]
    """Question id to the answer as it was streamed, to read what a figure comes from."""
    refusals: Refusals | None
    """None unless questions with and without an answer were asked."""
    times: Mapping[str, Time]
    conduct: AnswerConduct
    answered_by: tuple[str, ...]
    """Providers with their models."""


def score_answers(asked: Sequence[Asked], answers: Mapping[str, Told], library: Library) -> AnswerScore:
    """Return the figures of one variant; every question has its answer. Blocking: reads the cited pages.

    Raises InvalidInput when one of them is gone.
    """
    cited = {each.question.id: cited_sentences(each.question, answers[each.question.id], library) for each in asked}
    values = {
        each.question.id: judge(each.question, answers[each.question.id], cited[each.question.id]) for each in asked
    }
    tellings = list(answers.values())
    return AnswerScore(
        by_kind=_by_kind(asked, values),
        by_question=values,
        texts={each.question.id: answers[each.question.id].text for each in asked},
        refusals=score_refusals([(not each.answerable, answers[each.question.id].refused) for each in asked]),
        times=_times(tellings),
        conduct=_conduct(tellings, [sentence for sentences in cited.values() for sentence in sentences]),
        answered_by=tuple(
            sorted({f"{told.end.provider} ({told.end.model})" for told in tellings if told.end and told.end.provider})
        ),
    )


def _by_kind(asked: Sequence[Asked], values: Mapping[str, Values]) -> dict[str, dict[str, Estimate]]:
    kinds: dict[str, list[Values]] = {}
    for each in asked:
        kinds.setdefault(each.question.kind, []).append(values[each.question.id])
    answerable = {each.question.kind for each in asked if each.answerable}
    if len(answerable) > 1:
        kinds[EVERYTHING] = [values[each.question.id] for each in asked if each.answerable]
    return {kind: means_of(of_kind) for kind, of_kind in kinds.items()}


_TIMES: Mapping[str, Callable[[Told], float | None]] = {
    "first event": lambda told: told.first_event_ms,
    "first words": lambda told: told.first_delta_ms if told.answered else None,
    "search": lambda told: told.timings.search,
    "evidence": lambda told: told.timings.evidence,
    "provider's first words": lambda told: told.timings.first_token if told.answered else None,
    "beyond these": lambda told: told.beyond_ms,
    "whole answer": lambda told: told.end_ms,
}


def _times(tellings: Sequence[Told]) -> dict[str, Time]:
    """Return the times that at least one answer has."""
    measured = {name: [ms for told in tellings if (ms := of_one(told)) is not None] for name, of_one in _TIMES.items()}
    return {name: Time(percentile(ms, 50), percentile(ms, 99)) for name, ms in measured.items() if ms}


def _conduct(tellings: Sequence[Told], sentences: Sequence[CitedSentence]) -> AnswerConduct:
    failures = [told.end for told in tellings if isinstance(told.end, TurnFailed | TurnCancelled)]
    said = (each.message if isinstance(each, TurnFailed) else f"cancelled: {each.reason}" for each in failures)
    return AnswerConduct(
        failed=len(failures),
        first_failure=next(said, None),
        uncited=sum(told.answered and not told.uses for told in tellings),
        false_quotes=sum(sentence.false_quote for sentence in sentences),
        removed_markers=sum(told.end.removed_markers for told in tellings if told.end),
    )
