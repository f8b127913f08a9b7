"""A judged set with its stack: the vault made, opened and brought up to date, for as long as questions are asked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from deploy.embedded.client import BusClient
from deploy.embedded.stack_types import StackOpener, StackOptions
from deploy.evaluation.asking import Variant
from deploy.evaluation.prepared import Ingest, Prepared, prepare
from deploy.evaluation.questions import JudgedSet
from services.ingest.text.chunking import CHUNKER_VERSION
from shared.contracts.ingest import StatusReply
from shared.embedding.build import build_embedder
from shared.embedding.embedder import Space
from shared.embedding.settings import EmbeddingSettings


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
class IngestedSet:
    """What is told of a set whatever is measured on it."""

    judged: JudgedSet
    status: StatusReply
    ingest: Ingest | None
    """None when it was cut short and went on later."""
    ingested_now: bool
    notes: tuple[str, ...]
    """What was left out and why, in sentences."""


@dataclass(frozen=True, slots=True)
class OpenedSet:
    """A set whose stack runs and whose pages are all found."""

    about: IngestedSet
    prepared: Prepared
    client: BusClient
    vault_id: str


@asynccontextmanager
async def open_set(
    judged: JudgedSet, work_dir: Path, laboratory: Laboratory, *, fresh: bool = False
) -> AsyncGenerator[OpenedSet]:
    """Give the set with its stack, which ends with the context; raises CitebusError when it can't be ingested."""
    space = await _space(laboratory.embedding)
    prepared = await asyncio.to_thread(prepare, judged, work_dir, space, fresh=fresh)
    laboratory.progress.ingesting(judged, prepared)
    is_new = prepared.is_new
    options = StackOptions(prepared.data, (prepared.vault,))
    async with laboratory.open_stack(options) as stack, laboratory.connect(stack.nats_url) as client:
        (vault_id,) = stack.vaults
        started = laboratory.clock()
        status, searchable_s = await laboratory.bring_up_to_date(client, vault_id)
        if is_new:
            prepared.keep(Ingest(searchable_s, laboratory.clock() - started))
        about = IngestedSet(judged, status, prepared.ingest(), is_new, _notes(judged, prepared, status))
        yield OpenedSet(about, prepared, client, vault_id)


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
