"""Writes a page into the vault's folder: whole or not at all, and never outside of it. Blocking, meant for a thread.

Every folder is opened by its own name relative to the one above, without following links (`openat`, O_NOFOLLOW), so a
path can't be led out of the vault, not even while it is being used. A new page appears by `link`, which fails where
something has the name already; a page is replaced by `rename`. Content and folder are on the disk when this returns.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress

from services.ingest.watcher.saving_names import temporary_name
from shared.errors import InvalidInput, Unavailable

_MODE = 0o644
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
"""What file systems say that know no second name of a file, such as FAT."""


def read_page(root: str, path: str, max_bytes: int) -> bytes | None:
    """Return the file at `path`; None when nothing is there.

    Raises InvalidInput when something else than a readable file of at most `max_bytes` is there, or a folder on the
    way is a link, Unavailable when the disk fails.
    """
    folder, _, name = path.rpartition("/")
    with _named(path), suppress(FileNotFoundError), _folder(root, folder, make=False) as parent:
        return _read(parent, name, path, max_bytes)
    return None


def names_in(root: str, folder: str) -> list[str]:
    """Return the names in a folder, in order; none when it is not there. Raises as `read_page` does."""
    with _named(folder), suppress(FileNotFoundError), _folder(root, folder, make=False) as opened:
        return sorted(os.listdir(opened))
    return []


def write_page(root: str, path: str, content: bytes, *, replace: bool) -> None:
    """Write a page; folders on the way are made. Without `replace` what has the name already stays as it is.

    Raises InvalidInput when the name is taken or a folder on the way is a link or a file, Unavailable when the disk
    fails.
    """
    folder, _, name = path.rpartition("/")
    with _named(path), _folder(root, folder, make=True) as parent:
        temporary = temporary_name(name)
        try:
            _write(parent, temporary, content)
            if replace:
                os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
            else:
                _appear(parent, temporary, name)
            os.fsync(parent)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=parent)


def _appear(parent: int, temporary: str, name: str) -> None:
    """Give the written file its name, which nothing may have. Raises FileExistsError."""
    try:
        os.link(temporary, name, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE, dir_fd=parent))
        os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)


def _write(parent: int, name: str, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, _MODE, dir_fd=parent), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _read(parent: int, name: str, path: str, max_bytes: int) -> bytes:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, dir_fd=parent), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > max_bytes:
            raise InvalidInput(f"{path}: something else than a page of citebus has this name; choose another path.")
        return file.read(max_bytes)


@contextmanager
def _folder(root: str, folder: str, *, make: bool) -> Generator[int]:
    """Open a folder below the root, part by part; yields its descriptor."""
    opened = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in folder.split("/"):
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=opened)
            below = os.open(part, _FOLDER_FLAGS, dir_fd=opened)
            os.close(opened)
            opened = below
        yield opened
    finally:
        os.close(opened)


@contextmanager
def _named(path: str) -> Generator[None]:
    """Say in words what the system refuses."""
    try:
        yield
    except FileExistsError as error:
        raise InvalidInput(f"{path}: another file has this name, and it stays; choose another path.") from error
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR}:
            raise InvalidInput(f"{path}: a link or a file stands where a folder or page should; it stays.") from error
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR}:
            raise InvalidInput(f"{path}: can't be written or read: {error.strerror}.") from error
        raise Unavailable(f"{path}: the disk can't take or give the page now: {error.strerror}.") from error
