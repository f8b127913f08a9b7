"""A file in its two forms: as the disk has it, and as it was last published. Pure data."""

from __future__ import annotations

from typing import Literal, NamedTuple
from uuid import UUID

from shared.ids import normal_path

Change = Literal["present", "removed", "unreadable"]


class Entry(NamedTuple):
    """A page's file as the disk has it now. A tuple: a sweep makes 100,000 of them."""

    path: str
    """Relative to the vault, slashes, NFC: the identity."""
    disk_path: str
    """The same as the operating system spells it; bytes that are not UTF-8 as surrogate escapes."""
    size: int
    mtime_ns: int
    inode: int
    problem: str | None = None
    """Why it can't be a page, known without reading it."""


class Known(NamedTuple):
    """A file as it was last published: one row of the manifest."""

    path: str
    disk_path: str
    size: int
    mtime_ns: int | None
    """None: in doubt (written just before it was read, or taken from the log), so the next sweep hashes it."""
    inode: int | None
    """None: not known, because the row was taken from the log."""
    content_hash: str | None
    page_id: UUID
    change: Change
    reason: str | None = None
    published: bool = True
    """False: the log that had it is gone, so it must be published again."""
    at_s: float = 0.0
    """When it was published, seconds since 1970."""


def path_of(disk_path: str) -> str:
    """Return the identity of what is at a disk path: NFC, with bytes that are not UTF-8 as `\\xe9`."""
    return disk_path if disk_path.isascii() else normal_path(shown(disk_path))


def second_path_of(disk_path: str) -> str:
    """Return the identity of a file whose proper one another file has: all but ASCII escaped."""
    return disk_path.encode("ascii", "backslashreplace").decode()


def shown(disk_path: str) -> str:
    """Return a path that any reader can take: bytes that are not UTF-8 as `\\xe9`."""
    return disk_path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
