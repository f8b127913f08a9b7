"""Reads and publishes what was planned, slice by slice, and writes the manifest after each.

Guarantees: at most one slice [64 files, 8 MB] is in memory; a file's newest state is published, read at the last
moment; a step whose ground changed since it was planned is left out and named for another look; the manifest is
written only after the log has the slice, so nothing is lost at any crash.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

import structlog

from services.ingest.watcher.changes import Removed, Step
from services.ingest.watcher.manifest import Manifest
from services.ingest.watcher.ports import FileLog
from services.ingest.watcher.reading import Missing, Reading, Unstable, read_file
from services.ingest.watcher.slices import Place, Slice, slices
from shared.contracts.files import FileChanged

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Outcome:
    """What came of a plan: counts of messages, the log's position after them, and what to look at again."""

    published: int = 0
    moved: int = 0
    removed: int = 0
    unreadable: int = 0
    last_sequence: int = 0
    again: set[str] = field(default_factory=set[str])


class Publisher:
    """Publishes the changes of one vault; used by one task at a time."""

    def __init__(self, manifest: Manifest, log: FileLog, clock_ns: Callable[[], int]) -> None:
        self._manifest = manifest
        self._log = log
        self._clock_ns = clock_ns
        # Never used twice, not even by a manifest that was made anew: counted on from the time of its making.
        self._batch = int(manifest.fact("batch") or clock_ns())

    async def publish(self, place: Place, steps: Sequence[Step], between: Callable[[], Awaitable[None]]) -> Outcome:
        """Publish all steps; raises Unavailable with all slices before the failing one done and written down.

        `between` is awaited before each slice but the first, so that an edit need not wait for a bulk load.
        """
        outcome = Outcome(last_sequence=int(self._manifest.fact("sequence") or 0))
        done = 0
        for part in slices(steps):
            if done:
                _log.info("publishing files", vault=place.vault_id, done=done, of=len(steps))
                await between()
            await self._publish_slice(place, part, outcome)
            done += len(part)
        return outcome

    async def _publish_slice(self, place: Place, steps: Sequence[Step], outcome: Outcome) -> None:
        readings = await asyncio.to_thread(_read, place, steps)
        part = Slice(place, self._manifest, self._clock_ns())
        for step, reading in zip(steps, readings, strict=True):
            part.add(step, reading)
        # Each page is at its new path before its old one is given up.
        part.messages.sort(key=lambda message: message.change == "removed")
        if part.messages:
            outcome.last_sequence = await self._log.publish(part.messages, self._batch)
            self._batch += 1
        facts = (("batch", str(self._batch)), ("sequence", str(outcome.last_sequence)))
        self._manifest.apply(part.rows, part.forget, facts)
        _count(part.messages, outcome)
        outcome.again |= part.again


def _read(place: Place, steps: Iterable[Step]) -> list[Reading | None]:
    """Return for each step what is at its path; None: not read because its name alone is its problem."""
    return [_read_one(place, step) for step in steps]


def _read_one(place: Place, step: Step) -> Reading | None:
    if isinstance(step, Removed):
        return Unstable() if place.is_there(step.known) else Missing()
    if step.entry.problem is not None:
        return None
    return read_file(f"{place.root}/{step.entry.disk_path}", place.max_bytes)


def _count(messages: Iterable[FileChanged], outcome: Outcome) -> None:
    for message in messages:
        outcome.published += 1
        outcome.moved += message.moved_from is not None
        outcome.removed += message.change == "removed" and message.moved_to is None
        outcome.unreadable += message.change == "unreadable"
