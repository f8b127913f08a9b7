"""One set from its files to its figures: vault, stack, ingest, questions, scores."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from deploy.embedded.client import BusClient
from deploy.embedded.stack_types import StackOpener, StackOptions
from deploy.evaluation.asking import WIDEST_WINDOW, Asker, Variant
from deploy.evaluation.comparing import Difference, compare
from deploy.evaluation.prepared import Ingest, Prepared, prepare
from deploy.evaluation.questions import JudgedSet, Measure
from deploy.evaluation.scoring import REACH, Score, score
from services.ingest.text.chunking import CHUNKER_VERSION
from shared.contracts.ingest import StatusReply
from shared.embedding.build import build_embedder
from shared.embedding.embedder import Space
from shared.embedding.settings import EmbeddingSettings
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
    """Empty: DEFAULT_K."""
    depths: tuple[int, ...] = ()
    """Empty: DEFAULT_DEPTH."""
    context_window: int = WIDEST_WINDOW
    concurrency: int = 1
    fresh: bool = False

    def variants(self, measure: Measure) -> tuple[Variant, ...]:
        """Return every way in which a set is asked, those that differ in the profile only side by side."""
        return tuple(
            Variant(profile, depth, k, self.context_window)
            for k in self.k or DEFAULT_K[measure]
            for depth in self.depths or DEFAULT_DEPTH[measure]
            for profile in self.profiles
        )


class Listener(Protocol):
    """Hears how far it is."""

    def ingesting(self, judged: JudgedSet, prepared: Prepared) -> None:
        """A set's vault is about to be ingested, or opened when it already was."""
        ...

    def asked(self, variant: Variant, done: int, total: int) -> None:
        """So many of a variant's questions have their answers."""
        ...


BringUpToDate = Callable[[BusClient, str], Awaitable[tuple[StatusReply, float]]]
"""Syncs a vault; returns its status once all is embedded, and the seconds until all was searchable."""


@dataclass(frozen=True, slots=True)
class Laboratory:
    """What running takes from outside."""

    open_stack: StackOpener
    connect: Callable[[str], BusClient]
    bring_up_to_date: BringUpToDate
    progress: Listener
    embedding: EmbeddingSettings
    clock: Callable[[], float] = time.perf_counter


@dataclass(frozen=True, slots=True)
class SetOutcome:
    """What one set came to."""

    judged: JudgedSet
    status: StatusReply
    ingest: Ingest | None
    """None when it was cut short and went on later."""
    ingested_now: bool
    notes: tuple[str, ...]
    scores: dict[Variant, Score] = field(default_factory=dict[Variant, Score])
    failures: dict[Variant, str] = field(default_factory=dict[Variant, str])
    """Variants that can't be measured, and why: a profile may need a provider that is not there."""
    differences: list[Difference] = field(default_factory=list[Difference])


async def run_set(judged: JudgedSet, plan: Plan, laboratory: Laboratory) -> SetOutcome:
    """Return the figures of a set; raises CitebusError when its vault can't be ingested.

    A variant that fails harms only itself.
    """
    space = await _space(laboratory.embedding)
    prepared = await asyncio.to_thread(prepare, judged, plan.work_dir, space, fresh=plan.fresh)
    laboratory.progress.ingesting(judged, prepared)
    is_new = prepared.is_new
    options = StackOptions(prepared.data, (prepared.vault,))
    async with laboratory.open_stack(options) as stack, laboratory.connect(stack.nats_url) as client:
        (vault_id,) = stack.vaults
        status = await _ingest(prepared, vault_id, client, laboratory, is_new=is_new)
        outcome = SetOutcome(judged, status, prepared.ingest(), is_new, _notes(judged, prepared, status))
        asker = Asker(client, vault_id, prepared.ids, REACH[judged.measure], plan.concurrency)
        for variant in plan.variants(judged.measure):
            await _run_variant(asker, variant, outcome, laboratory.progress)
    outcome.differences.extend(await asyncio.to_thread(compare, judged.questions, outcome.scores))
    return outcome


async def _ingest(
    prepared: Prepared, vault_id: str, client: BusClient, laboratory: Laboratory, *, is_new: bool
) -> StatusReply:
    started = laboratory.clock()
    status, searchable_s = await laboratory.bring_up_to_date(client, vault_id)
    if is_new:
        prepared.keep(Ingest(searchable_s, laboratory.clock() - started))
    return status


async def _run_variant(asker: Asker, variant: Variant, outcome: SetOutcome, progress: Listener) -> None:
    questions = outcome.judged.questions
    try:
        answers = await asker.ask_all(questions, variant, lambda done: progress.asked(variant, done, len(questions)))
    except* CitebusError as errors:
        outcome.failures[variant] = str(_first(errors))
    else:
        outcome.scores[variant] = await asyncio.to_thread(score, outcome.judged.measure, questions, answers)


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _notes(judged: JudgedSet, prepared: Prepared, status: StatusReply) -> tuple[str, ...]:
    notes = list(judged.notes)
    known = set(prepared.ids.values())
    relevant = {document for question in judged.questions for document in question.grades}
    if missing := len(relevant - known):
        notes.append(f"{missing:,} relevant documents are not in the vault; they count as not found.")
    if status.rejected_count:
        examples = "; ".join(f"{each.path}: {each.reason}" for each in status.rejected[:3])
        notes.append(f"{status.rejected_count:,} documents were rejected: {examples}")
    return tuple(notes)


async def _space(settings: EmbeddingSettings) -> str:
    embedder = build_embedder(settings)
    try:
        return Space(embedder.model, embedder.dimension, CHUNKER_VERSION).name
    finally:
        await embedder.aclose()


def profiles_of(names: Sequence[str], known: Mapping[str, object], default: str, *, every: bool) -> tuple[str, ...]:
    """Return the profiles to compare, the default one first, as the others are compared with it."""
    chosen = [*names, *(known if every else ())] or [default]
    return tuple(dict.fromkeys(sorted(chosen, key=lambda name: name != default)))
