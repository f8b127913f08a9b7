"""One set from its files to the figures of retrieval: vault, stack, ingest, questions, scores."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deploy.evaluation.asking import WIDEST_WINDOW, Asker, Variant
from deploy.evaluation.comparing import Difference, compare
from deploy.evaluation.opening import IngestedSet, Laboratory, Listener, open_set
from deploy.evaluation.questions import JudgedSet, Measure
from deploy.evaluation.scoring import REACH, Score, score
from shared.errors import CitebusError

DEFAULT_K: Mapping[Measure, tuple[int, ...]] = {"pages": (50,), "answers": (8,), "spans": (5, 8)}
"""Chunks to seed from: as many as there may be where deep rankings are judged, else what a reader would use."""

DEFAULT_DEPTH: Mapping[Measure, tuple[int, ...]] = {"pages": (0,), "answers": (0, 2), "spans": (0,)}
"""Expansion comes behind all seeds; it is compared where questions need several pages."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How sets are run."""

    profiles: tuple[str, ...]
    """The first is the one that the others are compared with."""
    work_dir: Path
    k: tuple[int, ...] = ()
    """Empty: the usual ones of what is measured."""
    depths: tuple[int, ...] = ()
    """Empty: as for k."""
    context_window: int | None = None
    """None: as for k."""
    concurrency: int = 1
    fresh: bool = False

    def variants(
        self, k: Sequence[int], depths: Sequence[int], context_window: int = WIDEST_WINDOW
    ) -> tuple[Variant, ...]:
        """Return every way in which a set is asked, those that differ in the profile only side by side.

        What the plan does not say is as given.
        """
        window = context_window if self.context_window is None else self.context_window
        return tuple(
            Variant(profile, depth, each, window)
            for each in self.k or k
            for depth in self.depths or depths
            for profile in self.profiles
        )


@dataclass(frozen=True, slots=True)
class SetOutcome:
    """What one set came to."""

    about: IngestedSet
    scores: dict[Variant, Score] = field(default_factory=dict[Variant, Score])
    failures: dict[Variant, str] = field(default_factory=dict[Variant, str])
    """Variants that can't be measured, and why: a profile may need a provider that is not there."""
    differences: list[Difference] = field(default_factory=list[Difference])


async def run_set(judged: JudgedSet, plan: Plan, laboratory: Laboratory) -> SetOutcome:
    """Return the figures of a set; raises CitebusError when its vault can't be ingested.

    A variant that fails harms only itself.
    """
    measure = judged.measure
    async with open_set(judged, plan.work_dir, laboratory, fresh=plan.fresh) as opened:
        outcome = SetOutcome(opened.about)
        asker = Asker(opened.client, opened.vault_id, opened.prepared.ids, REACH[measure], plan.concurrency)
        for variant in plan.variants(DEFAULT_K[measure], DEFAULT_DEPTH[measure]):
            await _run_variant(asker, variant, outcome, laboratory.progress)
    outcome.differences.extend(await asyncio.to_thread(compare, judged.questions, outcome.scores))
    return outcome


async def _run_variant(asker: Asker, variant: Variant, outcome: SetOutcome, progress: Listener) -> None:
    questions = outcome.about.judged.questions
    try:
        answers = await asker.ask_all(questions, variant, lambda done: progress.asked(variant, done, len(questions)))
    except* CitebusError as errors:
        outcome.failures[variant] = str(first_of(errors))
    else:
        outcome.scores[variant] = await asyncio.to_thread(score, outcome.about.judged.measure, questions, answers)


def first_of(error: BaseException) -> BaseException:
    """Return the first error in a group and in the groups inside it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def profiles_of(names: Sequence[str], known: Mapping[str, object], default: str, *, every: bool) -> tuple[str, ...]:
    """Return the profiles to compare: those that are named, else every one or the default.

    The default one is first, as the others are compared with it.
    """
    chosen = names or (list(known) if every else [default])
    return tuple(dict.fromkeys(sorted(chosen, key=lambda name: name != default)))
