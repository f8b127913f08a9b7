"""From answers to figures: one value per question and measure, then means with their intervals. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from deploy.evaluation.asking import Answer
from deploy.evaluation.intervals import Estimate, estimate
from deploy.evaluation.metrics import hit, ndcg, percentile, recall, reciprocal_rank, separation
from deploy.evaluation.questions import Measure, Question
from deploy.evaluation.spans import score_spans

Values = Mapping[str, float]
"""One question's values by the measure's name."""

CUTOFF = 10
"""Of nDCG and MRR, as usual."""

RECALL_CUTOFFS = (20, 100)
"""What a reader may get to see, and what a reranker could still bring up."""

REACH: Mapping[Measure, int] = {"pages": max(RECALL_CUTOFFS), "answers": 0, "spans": 0}
"""Pages that a ranking should have; 0: those of one reply."""

EVERYTHING = "all"
"""Kind under which all questions together are averaged."""


@dataclass(frozen=True, slots=True)
class Score:
    """What one variant came to."""

    by_kind: Mapping[str, Mapping[str, Estimate]]
    """Kind of question to measure to mean."""
    by_question: Mapping[str, Values]
    """Question id to its values, for comparisons question by question."""
    separation: float | None
    """How well the best similarity tells questions that have an answer from those that have none."""
    latency: Latency
    conduct: Conduct


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds over all questions."""

    p50_ms: float
    p99_ms: float
    service_p50_ms: float
    service_p99_ms: float


@dataclass(frozen=True, slots=True)
class Conduct:
    """Replies that were not what was asked for; where these are not 0, mistrust the figures."""

    empty: int
    truncated: int
    degraded: int
    dropped: int
    """Replies from which the budget dropped something."""
    expanded: int
    """Replies to which the page graph added something; meant to be, with depth above 0."""


def score(measure: Measure, questions: Sequence[Question], answers: Mapping[str, Answer]) -> Score:
    """Return the figures of one variant; every question has its answer."""
    of_one = _MEASURES[measure]
    values = {each.id: of_one(each, answers[each.id]) for each in questions if each.grades or each.spans}
    kinds: dict[str, list[Values]] = {}
    for question in questions:
        if question.id in values:
            kinds.setdefault(question.kind, []).append(values[question.id])
    if len(kinds) > 1:
        kinds[EVERYTHING] = list(values.values())
    return Score(
        by_kind={kind: means_of(of_kind) for kind, of_kind in kinds.items()},
        by_question=values,
        separation=_separation(questions, answers) if measure == "answers" else None,
        latency=_latency(list(answers.values())),
        conduct=_conduct(list(answers.values())),
    )


def _pages(question: Question, answer: Answer) -> dict[str, float]:
    ranking, grades = answer.ranking, question.grades
    found = {f"recall@{cutoff}": recall(ranking, grades, cutoff) for cutoff in RECALL_CUTOFFS}
    return {
        f"nDCG@{CUTOFF}": ndcg(ranking, grades, CUTOFF),
        f"MRR@{CUTOFF}": reciprocal_rank(ranking, grades, CUTOFF),
        **found,
    }


def _answers(question: Question, answer: Answer) -> dict[str, float]:
    whole = recall(answer.ranking, question.grades, 20)
    values = {
        "hit@1": hit(answer.ranking, question.grades, 1),
        "hit@3": hit(answer.ranking, question.grades, 3),
        f"nDCG@{CUTOFF}": ndcg(answer.ranking, question.grades, CUTOFF),
        "recall@20": whole,
        "all pages@20": float(whole == 1.0),
    }
    return values | ({"phrase": float(answer.has_phrase)} if question.phrase else {})


def _spans(question: Question, answer: Answer) -> dict[str, float]:
    scored = score_spans(question.spans, answer.passages)
    return {"span recall": scored.recall, "span precision": scored.precision, "span IoU": scored.iou}


_MEASURES: Mapping[Measure, Callable[[Question, Answer], dict[str, float]]] = {
    "pages": _pages,
    "answers": _answers,
    "spans": _spans,
}


def means_of(values: Sequence[Values]) -> dict[str, Estimate]:
    """Return the mean of each measure over the questions that have it."""
    names = dict.fromkeys(name for each in values for name in each)
    return {name: estimate([each[name] for each in values if name in each]) for name in names}


def _separation(questions: Sequence[Question], answers: Mapping[str, Answer]) -> float | None:
    def best(answerable: bool) -> list[float]:
        chosen = (answers[each.id].similarity for each in questions if bool(each.grades) is answerable)
        return [similarity for similarity in chosen if similarity is not None]

    return separation(best(True), best(False))


def _latency(answers: Sequence[Answer]) -> Latency:
    seen, said = [each.latency_ms for each in answers], [each.service_ms for each in answers]
    return Latency(percentile(seen, 50), percentile(seen, 99), percentile(said, 50), percentile(said, 99))


def _conduct(answers: Sequence[Answer]) -> Conduct:
    return Conduct(
        empty=sum(not each.ranking for each in answers),
        truncated=sum(each.truncated for each in answers),
        degraded=sum(each.degraded is not None for each in answers),
        dropped=sum(each.dropped > 0 for each in answers),
        expanded=sum(each.expanded > 0 for each in answers),
    )
