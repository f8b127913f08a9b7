"""One set from its files to the figures of its answers: vault, stack, ingest, questions, scores."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from deploy.evaluation.answers.asking import AnswerAsker
from deploy.evaluation.answers.library import Library
from deploy.evaluation.answers.questions import Asked, questions_to_ask
from deploy.evaluation.answers.scoring import AnswerScore, score_answers
from deploy.evaluation.asking import Variant
from deploy.evaluation.opening import IngestedSet, Laboratory, OpenedSet, open_set
from deploy.evaluation.questions import JudgedSet, Question
from deploy.evaluation.running import Plan, first_of
from shared.errors import CitebusError, InvalidInput

K, DEPTH, CONTEXT_WINDOW = (8,), (2,), 32_768
"""What a ChatRequest that says nothing asks for."""


@dataclass(frozen=True, slots=True)
class AnswersOutcome:
    """What one set's answers came to."""

    about: IngestedSet
    asked: tuple[Asked, ...]
    scores: dict[Variant, AnswerScore] = field(default_factory=dict[Variant, AnswerScore])
    failures: dict[Variant, str] = field(default_factory=dict[Variant, str])
    """Variants that can't be measured, and why."""


async def run_answers(
    judged: JudgedSet, foreign: Sequence[Question], plan: Plan, laboratory: Laboratory
) -> AnswersOutcome:
    """Return the figures of a set's answers; `foreign`: questions that nothing in its vault answers.

    Raises CitebusError when its vault can't be ingested, InvalidInput when its questions are not about pages. A variant
    that fails harms only itself.
    """
    if judged.measure == "spans":
        raise InvalidInput(f"{judged.name} judges spans of long files; answers are measured on questions about pages")
    async with open_set(judged, plan.work_dir, laboratory, fresh=plan.fresh) as opened:
        asked = questions_to_ask(judged, opened.prepared.ids, foreign)
        outcome = AnswersOutcome(opened.about, asked)
        for variant in plan.variants(K, DEPTH, CONTEXT_WINDOW):
            await _run_variant(opened, variant, outcome, plan.concurrency, laboratory)
    return outcome


async def _run_variant(
    opened: OpenedSet, variant: Variant, outcome: AnswersOutcome, concurrency: int, laboratory: Laboratory
) -> None:
    asked, progress = outcome.asked, laboratory.progress
    asker = AnswerAsker(opened.client, opened.vault_id, concurrency, laboratory.clock)
    library = Library(opened.prepared.vault, opened.prepared.ids)
    try:
        answers = await asker.ask_all(asked, variant, lambda done: progress.asked(variant, done, len(asked)))
        outcome.scores[variant] = await asyncio.to_thread(score_answers, asked, answers, library)
    except* CitebusError as errors:
        outcome.failures[variant] = str(first_of(errors))
