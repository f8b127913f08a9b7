"""Reads a file only while it stands still. Blocking, meant for a thread; writes nothing."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from typing import NamedTuple

from shared.ids import content_hash

_TRIES = 3
"""A file that grows while it is read is read again so often, then left to the next event."""

_PAUSE_S = 0.01
"""Between two tries: half a debounce."""


class Content(NamedTuple):
    """A file that did not change while it was read; `inode`, `mtime_ns` and size belong to these bytes."""

    data: bytes
    content_hash: str
    mtime_ns: int
    inode: int


class Unreadable(NamedTuple):
    """A file that is there and can't be read; `reason` is a sentence for people."""

    reason: str
    size: int
    mtime_ns: int
    inode: int


class Missing(NamedTuple):
    """A file that is gone, or is no regular file any more."""


class Unstable(NamedTuple):
    """A file that kept changing; it must be looked at again."""


Reading = Content | Unreadable | Missing | Unstable


def read_file(path: str, max_bytes: int, pause: Callable[[float], object] = time.sleep) -> Reading:
    """Read a whole regular file of at most `max_bytes`."""
    for attempt in range(_TRIES):
        if attempt:
            pause(_PAUSE_S)
        found = _read_once(path, max_bytes)
        if not isinstance(found, Unstable):
            return found
    return Unstable()


def _read_once(path: str, max_bytes: int) -> Reading:
    try:
        # O_NONBLOCK: a pipe that took the file's place must not hold the thread.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return Missing()
    except OSError as error:
        return _refused(path, error)
    try:
        return _read_open(descriptor, max_bytes)
    except OSError as error:
        return _refused(path, error)
    finally:
        os.close(descriptor)


def _read_open(descriptor: int, max_bytes: int) -> Reading:
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode):
        return Missing()
    if before.st_size > max_bytes:
        reason = f"too large: {before.st_size:,} bytes, at most {max_bytes:,} are read"
        return Unreadable(reason, before.st_size, before.st_mtime_ns, before.st_ino)
    parts: list[bytes] = []
    left = before.st_size + 1  # one more than expected shows that it grew
    while left > 0 and (part := os.read(descriptor, left)):
        parts.append(part)
        left -= len(part)
    after = os.fstat(descriptor)
    data = b"".join(parts)
    if not len(data) == before.st_size == after.st_size or before.st_mtime_ns != after.st_mtime_ns:
        return Unstable()
    return Content(data, content_hash(data), after.st_mtime_ns, after.st_ino)


def _refused(path: str, error: OSError) -> Reading:
    denied = isinstance(error, PermissionError)
    reason = "no permission to read the file" if denied else f"can't be read: {error.strerror}"
    try:
        status = os.stat(path)
    except OSError:
        return Missing()
    return Unreadable(reason, status.st_size, status.st_mtime_ns, status.st_ino)
