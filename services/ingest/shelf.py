"""What is live of a few pages, in memory, and what one file change does to it. Pure.

A vault is a set of slots, one per path. A slot's newest change says which page lies there, or that none does; a page
lies where the newest change that bears its id put it. So changes may come late, twice or out of order: each slot takes
only what is newer than what it has seen, and a page moves only forward. Swapped names, moves and replaced files need no
case of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from services.ingest.page import PreparedPage
from shared.contracts.files import FileChanged

SlotState = Literal["indexed", "rejected", "removed"]

Outcome = PreparedPage | str | None
"""What came of a file's content: the page; or why there is none (a reason); None for a removal."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A path of the vault and the newest change seen there (table `files`)."""

    file_key: str
    path: str
    disk_path: str
    revision: int
    state: SlotState
    page_id: UUID
    content_hash: str | None
    config_hash: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """What must be known of a live chunk to tell what a change does to its point."""

    chunk_id: UUID
    point_hash: str
    text_hash: str
    embedded_in: str | None


@dataclass(frozen=True, slots=True)
class LivePage:
    """A page as it is live (tables `pages`, `chunks`); `prepared` only when this batch made it."""

    page_id: UUID
    path: str
    disk_path: str
    revision: int
    content_hash: str
    chunks: tuple[StoredChunk, ...] = ()
    prepared: PreparedPage | None = None
    mtime_ns: int = 0
    """Of the file, when this batch made the page; 0: not known."""


@dataclass(frozen=True, slots=True)
class Change:
    """A file change with its place in the order, and what came of its content."""

    message: FileChanged
    file_key: str
    revision: int
    config_hash: str
    outcome: Outcome
    redelivered: bool = False
    patient: bool = False
    """The tombstone of a page that moved may wait for the change that brings the page to its new path."""


Effect = Literal["indexed", "moved", "removed", "rejected", "unchanged", "stale", "early"]
"""`early`: nothing was done; the same change again, a little later, will do."""


@dataclass(frozen=True, slots=True)
class Effected:
    """What a change did; `repeat` says that an earlier delivery did it and its events may be missing."""

    change: Change
    effect: Effect
    page_id: UUID
    old_path: str | None = None
    repeat: bool = False


@dataclass(slots=True)
class Shelf:
    """Slots by file key and pages by id, as read from the store; `apply` changes them."""

    slots: dict[str, Slot] = field(default_factory=dict[str, Slot])
    pages: dict[UUID, LivePage] = field(default_factory=dict[UUID, LivePage])
    data_version: int = 0
    touched_slots: set[str] = field(default_factory=set[str])
    touched_pages: set[UUID] = field(default_factory=set[UUID])

    def apply(self, change: Change) -> Effected:
        """Do what `change` says, if it is newer than what its slot has seen. Changes come in order of revision."""
        slot = self.slots.get(change.file_key)
        if slot is not None and not _newer(change, slot):
            return self._stale(change, slot)
        match change.outcome:
            case PreparedPage() as page:
                return self._present(change, slot, page)
            case str() as reason:
                return self._rejected(change, reason)
            case None:
                return self._removed(change)

    def _stale(self, change: Change, slot: Slot) -> Effected:
        page = self.pages.get(change.message.page_id)
        same = change.revision == slot.revision
        effect: Effect = "stale"
        old_path = None
        if same and slot.state == "indexed" and page is not None and page.path == slot.path:
            old_path = change.message.moved_from
            effect = "moved" if old_path else "indexed"
        elif same and slot.state == "rejected":
            effect = "rejected"
        elif same and slot.state == "removed" and page is None:
            effect = "removed"
        return Effected(change, effect, change.message.page_id, old_path, repeat=True)

    def _present(self, change: Change, slot: Slot | None, prepared: PreparedPage) -> Effected:
        message, page_id = change.message, change.message.page_id
        page = self.pages.get(page_id)
        if page is not None and page.path != message.path and page.revision > change.revision:
            self._set(change, "removed")  # the page lies elsewhere by a newer change
            return Effected(change, "stale", page_id)
        here = page is not None and page.path == message.path
        unchanged = here and slot is not None and slot.state == "indexed" and _same_outcome(slot, change)
        self._set(change, "indexed")
        if unchanged:
            return Effected(change, "unchanged", page_id, repeat=change.redelivered)
        self._displace(message.path, page_id)
        self.touched_pages.add(page_id)
        self.pages[page_id] = LivePage(
            page_id=page_id,
            path=message.path,
            disk_path=message.disk_path,
            revision=change.revision,
            content_hash=message.content_hash or "",
            prepared=prepared,
            mtime_ns=message.mtime_ns,
        )
        if page is not None and not here:
            return Effected(change, "moved", page_id, old_path=page.path)
        return Effected(change, "indexed", page_id)

    def _rejected(self, change: Change, reason: str) -> Effected:
        self._set(change, "rejected", reason)
        return Effected(change, "rejected", change.message.page_id)

    def _removed(self, change: Change) -> Effected:
        message = change.message
        page = self.pages.get(message.page_id)
        if change.patient and message.moved_to and page is not None and page.path == message.path:
            return Effected(change, "early", message.page_id)  # so that the page is never nowhere
        self._set(change, "removed")
        gone = self._displace(change.message.path, None)
        if gone is None:
            return Effected(change, "unchanged", change.message.page_id)
        return Effected(change, "removed", gone)

    def _displace(self, path: str, newcomer: UUID | None) -> UUID | None:
        """Take the page that lies at `path` off the shelf, unless it is the newcomer; return its id."""
        for page in self.pages.values():
            if page.path == path and page.page_id != newcomer:
                del self.pages[page.page_id]
                self.touched_pages.add(page.page_id)
                return page.page_id
        return None

    def _set(self, change: Change, state: SlotState, reason: str | None = None) -> None:
        message = change.message
        self.touched_slots.add(change.file_key)
        self.slots[change.file_key] = Slot(
            file_key=change.file_key,
            path=message.path,
            disk_path=message.disk_path,
            revision=change.revision,
            state=state,
            page_id=message.page_id,
            content_hash=message.content_hash,
            config_hash=change.config_hash,
            reason=reason,
        )


def _newer(change: Change, slot: Slot) -> bool:
    reworked = change.revision == slot.revision and change.config_hash != slot.config_hash
    return change.revision > slot.revision or reworked


def _same_outcome(slot: Slot, change: Change) -> bool:
    message = change.message
    before = (slot.content_hash, slot.config_hash, slot.disk_path)
    return before == (message.content_hash, change.config_hash, message.disk_path)
