"""Cuts a plan into slices and makes of each the messages and the manifest's rows. No I/O but the manifest's reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from services.ingest.watcher.changes import Present, Removed, Step
from services.ingest.watcher.files import Known, shown
from services.ingest.watcher.manifest import Manifest
from services.ingest.watcher.reading import Content, Missing, Reading, Unreadable, Unstable
from shared.contracts.files import FileChanged

SLICE_FILES = 64
SLICE_BYTES = 8_000_000
"""A slice fills one round trip and stays far below what a server buffers for one client."""

_DOUBT_NS = 2_000_000_000
"""A file written so shortly before it was read may be written again within one tick of its file system's clock
(FAT: 2 s) and keep its size: its time is not trusted, and the next sweep hashes it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which vault, where, how large its files may be, and how to ask whether a published file is still there."""

    vault_id: str
    root: str
    max_bytes: int
    is_there: Callable[[Known], bool]


def slices(steps: Iterable[Step]) -> Iterator[list[Step]]:
    """Cut a plan into slices; a move's two halves stay together, as the manifest forgets both at once."""
    part: list[Step] = []
    size = 0
    for step in steps:
        weight = step.entry.size if isinstance(step, Present) else 0
        half = isinstance(step, Removed) and step.moved_to is not None
        if part and not half and (len(part) >= SLICE_FILES or size + weight > SLICE_BYTES):
            yield part
            part, size = [], 0
        part.append(step)
        size += weight
    if part:
        yield part


class Slice:
    """What is published at once: messages, and what the manifest says once the log has them."""

    def __init__(self, place: Place, manifest: Manifest, now_ns: int) -> None:
        self.messages: list[FileChanged] = []
        self.rows: list[Known] = []
        self.forget: list[str] = []
        """Paths that the manifest forgets: their page is elsewhere."""
        self.again: set[str] = set()
        """Disk paths to look at again: gone, growing, or changed since the plan was made."""
        self._place = place
        self._manifest = manifest
        self._now_ns = now_ns
        self._left_out: set[str] = set()

    def add(self, step: Step, reading: Reading | None) -> None:
        """Add one step, given what was just found at its path; None: its name alone is its problem."""
        if isinstance(step, Present):
            if isinstance(reading, Missing | Unstable) or not self._still_holds(step):
                self._left_out.add(step.entry.path)
                self.again.update({step.entry.disk_path, step.moved_from or step.entry.disk_path})
            else:
                self._add_present(step, reading)
        elif step.moved_to in self._left_out or not isinstance(reading, Missing) or not self._is_there(step.known):
            self.again.add(step.known.disk_path)
        else:
            self._add_removed(step)

    def _add_present(self, step: Present, reading: Content | Unreadable | None) -> None:
        row = self._row(step, reading)
        self.rows.append(row)
        if _says_the_same(row, step.replaces):
            return
        self.messages.append(
            FileChanged(
                vault_id=self._place.vault_id,
                path=row.path,
                disk_path=shown(row.disk_path),
                page_id=row.page_id,
                change=row.change,
                content=reading.data if isinstance(reading, Content) else None,
                content_hash=row.content_hash,
                size_bytes=row.size,
                mtime_ns=step.entry.mtime_ns if reading is None else reading.mtime_ns,
                moved_from=step.moved_from,
                reason=row.reason,
            )
        )

    def _row(self, step: Present, reading: Content | Unreadable | None) -> Known:
        entry, now_s = step.entry, self._now_ns / 1e9
        known = Known(
            entry.path, entry.disk_path, entry.size, entry.mtime_ns, entry.inode, None, step.page_id, "unreadable",
            entry.problem, at_s=now_s,
        )  # fmt: skip
        if reading is None:
            return known
        known = known._replace(mtime_ns=reading.mtime_ns, inode=reading.inode)
        if isinstance(reading, Unreadable):
            return known._replace(size=reading.size, reason=reading.reason)
        return known._replace(
            size=len(reading.data),
            mtime_ns=None if abs(self._now_ns - reading.mtime_ns) < _DOUBT_NS else reading.mtime_ns,
            content_hash=reading.content_hash,
            change="present",
        )

    def _add_removed(self, step: Removed) -> None:
        known = step.known
        self.messages.append(
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
            self.rows.append(known._replace(change="removed", published=True, at_s=self._now_ns / 1e9))
        else:
            self.forget.append(known.path)

    def _still_holds(self, step: Present) -> bool:
        current = self._manifest.get(step.entry.path)
        if current is not None and current != step.replaces:
            return False
        return set(self._manifest.holders(step.page_id)) <= {step.entry.path, step.moved_from}

    def _is_there(self, known: Known) -> bool:
        """Say whether a page that is to be removed is still that page, and not removed yet."""
        current = self._manifest.get(known.path)
        return current is not None and current.page_id == known.page_id and _must_go(current)


def _must_go(row: Known) -> bool:
    return row.change != "removed" or not row.published


def _says_the_same(row: Known, before: Known | None) -> bool:
    """Say whether the log already has this state, so that only the row's times are new."""
    if before is None or not before.published:
        return False
    wanted = (row.disk_path, row.content_hash, row.page_id, row.change, row.reason)
    return wanted == (before.disk_path, before.content_hash, before.page_id, before.change, before.reason)
