"""Reads and publishes what was planned, in slices, and writes the manifest after each.

Guarantees: at most one slice [64 files, 8 MB] is in memory; a file's newest state is published, read at the last
moment; a step whose ground changed since it was planned is left out and named for another look; the manifest is
written only after the log has the slice, so nothing is lost at any crash.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import structlog

from services.ingest.watcher.changes import Present, Removed, Step
from services.ingest.watcher.files import Known, shown
from services.ingest.watcher.manifest import Manifest
from services.ingest.watcher.ports import FileLog
from services.ingest.watcher.reading import Content, Missing, Reading, Unreadable, Unstable, read_file
from shared.contracts.files import FileChanged

_SLICE_FILES = 64
_SLICE_BYTES = 8_000_000
"""A slice fills one round trip and stays far below what a server buffers for one client."""

_DOUBT_NS = 2_000_000_000
"""A file written so shortly before it was read may be written again within one tick of its file system's clock
(FAT: 2 s) and keep its size: its time is not trusted, and the next sweep hashes it."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Place:
    """Which vault, where, and how large its files may be."""

    vault_id: str
    root: str
    max_bytes: int


@dataclass(slots=True)
class Outcome:
    """What came of a plan."""

    published: int = 0
    moved: int = 0
    removed: int = 0
    unreadable: int = 0
    last_sequence: int = 0
    again: set[str] = field(default_factory=set[str])
    """Disk paths to look at again: gone, growing, or changed since the plan was made."""


@dataclass(slots=True)
class _Slice:
    messages: list[FileChanged] = field(default_factory=list[FileChanged])
    rows: list[Known] = field(default_factory=list[Known])
    forget: list[str] = field(default_factory=list[str])


class Publisher:
    """Publishes the changes of one vault; used by one task at a time."""

    def __init__(self, place: Place, manifest: Manifest, log: FileLog, clock_ns: Callable[[], int]) -> None:
        self._place = place
        self._manifest = manifest
        self._log = log
        self._clock_ns = clock_ns

    async def publish(self, steps: Sequence[Step], between: Callable[[], object] = lambda: None) -> Outcome:
        """Publish all steps; raises Unavailable with all slices before the failing one done and written down.

        `between` is called after each slice.
        """
        outcome = Outcome(last_sequence=int(self._manifest.fact("sequence") or 0))
        done = 0
        for part in slices(steps):
            await self._publish_slice(part, outcome)
            done += len(part)
            if len(steps) > _SLICE_FILES:
                _log.info("publishing files", vault=self._place.vault_id, done=done, of=len(steps))
            between()
        return outcome

    async def _publish_slice(self, steps: Sequence[Step], outcome: Outcome) -> None:
        readings = await asyncio.to_thread(self._read, steps)
        part = self._build(steps, readings, outcome)
        batch = int(self._manifest.fact("batch") or self._clock_ns())
        facts = [("batch", str(batch))]
        if part.messages:
            self._manifest.apply((), (), facts)  # the same number again if this process dies before the end
            outcome.last_sequence = await self._log.publish(part.messages, batch)
            facts = [("batch", str(batch + 1)), ("sequence", str(outcome.last_sequence))]
        self._manifest.apply(part.rows, part.forget, facts)
        _count(part.messages, outcome)

    def _read(self, steps: Sequence[Step]) -> list[Reading | None]:
        """Return for each step what is at its path; None: not read because its name is its problem."""
        return [self._read_one(step) for step in steps]

    def _read_one(self, step: Step) -> Reading | None:
        if isinstance(step, Removed):
            there = _is_there(f"{self._place.root}/{step.known.disk_path}")
            return Unstable() if there else Missing()
        if step.entry.problem is not None:
            return None
        return read_file(f"{self._place.root}/{step.entry.disk_path}", self._place.max_bytes)

    def _build(self, steps: Sequence[Step], readings: Sequence[Reading | None], outcome: Outcome) -> _Slice:
        part = _Slice()
        left_out: set[str] = set()
        for step, reading in zip(steps, readings, strict=True):
            if isinstance(step, Present):
                if not self._add_present(step, reading, part):
                    left_out.add(step.entry.path)
                    outcome.again.update({step.entry.disk_path, step.moved_from or step.entry.disk_path})
            elif step.moved_to in left_out or not self._add_removed(step, reading, part):
                outcome.again.add(step.known.disk_path)
        # Each page is at its new path before its old one is given up.
        part.messages.sort(key=lambda message: message.change == "removed")
        return part

    def _add_present(self, step: Present, reading: Reading | None, part: _Slice) -> bool:
        """Add the file's state to the slice; False: it must be looked at again."""
        if isinstance(reading, Missing | Unstable) or not self._still_holds(step):
            return False
        row = self._row(step, reading)
        part.rows.append(row)
        if not _says_the_same(row, step.replaces):
            part.messages.append(self._present_message(step, row, reading))
        return True

    def _row(self, step: Present, reading: Content | Unreadable | None) -> Known:
        entry = step.entry
        known = Known(
            entry.path, entry.disk_path, entry.size, entry.mtime_ns, entry.inode, None, step.page_id, "unreadable",
            entry.problem, at_s=self._clock_ns() / 1e9,
        )  # fmt: skip
        if reading is None:
            return known
        known = known._replace(mtime_ns=reading.mtime_ns, inode=reading.inode)
        if isinstance(reading, Unreadable):
            return known._replace(size=reading.size, reason=reading.reason)
        recent = abs(self._clock_ns() - reading.mtime_ns) < _DOUBT_NS
        return known._replace(
            size=len(reading.data),
            mtime_ns=None if recent else reading.mtime_ns,
            content_hash=reading.content_hash,
            change="present",
        )

    def _present_message(self, step: Present, row: Known, reading: Reading | None) -> FileChanged:
        return FileChanged(
            vault_id=self._place.vault_id,
            path=row.path,
            disk_path=shown(row.disk_path),
            page_id=row.page_id,
            change=row.change,
            content=reading.data if isinstance(reading, Content) else None,
            content_hash=row.content_hash,
            size_bytes=row.size,
            mtime_ns=step.entry.mtime_ns if reading is None else getattr(reading, "mtime_ns", 0),
            moved_from=step.moved_from,
            reason=row.reason,
        )

    def _add_removed(self, step: Removed, reading: Reading | None, part: _Slice) -> bool:
        known = step.known
        if not isinstance(reading, Missing):
            return False
        current = self._manifest.get(known.path)
        if current is None or current.page_id != known.page_id or current.change == "removed":
            return False
        part.messages.append(
            FileChanged(
                vault_id=self._place.vault_id,
                path=known.path,
                disk_path=shown(known.disk_path),
                page_id=known.page_id,
                change="removed",
                moved_to=step.moved_to,
            )
        )
        if step.moved_to is None:
            gone = known._replace(change="removed", published=True, at_s=self._clock_ns() / 1e9)
            part.rows.append(gone)
        else:
            part.forget.append(known.path)
        return True

    def _still_holds(self, step: Present) -> bool:
        current = self._manifest.get(step.entry.path)
        if current is not None and current != step.replaces:
            return False
        return set(self._manifest.holders(step.page_id)) <= {step.entry.path, step.moved_from}


def slices(steps: Iterable[Step]) -> Iterator[list[Step]]:
    """Cut a plan into slices; a move's two halves stay together, as the manifest forgets both at once."""
    part: list[Step] = []
    size = 0
    for step in steps:
        weight = step.entry.size if isinstance(step, Present) else 0
        half = isinstance(step, Removed) and step.moved_to is not None
        if part and not half and (len(part) >= _SLICE_FILES or size + weight > _SLICE_BYTES):
            yield part
            part, size = [], 0
        part.append(step)
        size += weight
    if part:
        yield part


def _says_the_same(row: Known, before: Known | None) -> bool:
    """Say whether the log already has this state, so that only the row's times are new."""
    if before is None or not before.published:
        return False
    wanted = (row.disk_path, row.content_hash, row.page_id, row.change, row.reason)
    return wanted == (before.disk_path, before.content_hash, before.page_id, before.change, before.reason)


def _count(messages: Iterable[FileChanged], outcome: Outcome) -> None:
    for message in messages:
        outcome.published += 1
        outcome.moved += message.moved_from is not None
        outcome.removed += message.change == "removed" and message.moved_to is None
        outcome.unreadable += message.change == "unreadable"


def _is_there(path: str) -> bool:
    try:
        os.lstat(path)
    except OSError:
        return False
    return True
