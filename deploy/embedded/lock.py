"""One running stack per data folder, held by a lock that the kernel lets go when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from deploy.embedded.state import DataFolder, read_running_stack
from shared.errors import InvalidInput


@contextmanager
def hold(data: DataFolder) -> Generator[None]:
    """Hold the data folder; raises InvalidInput that says who holds it and what to do when another process does."""
    descriptor = os.open(data.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)  # children don't inherit it
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidInput(_who_holds(data, os.pread(descriptor, 20, 0).decode())) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def is_held(data_dir: Path) -> bool:
    """Tell whether a stack holds the folder at this moment; a folder that cannot be looked into is not held."""
    try:
        descriptor = os.open(DataFolder(data_dir.expanduser().resolve()).lock_file, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _who_holds(data: DataFolder, pid: str) -> str:
    advice = f"stop it with Ctrl-C where it runs or with `kill {pid}`, or give another --data-dir"
    stack = read_running_stack(data.root)
    if stack is None:
        return f"citebus is just starting or stopping on {data.root} (process {pid}): wait a moment, {advice}"
    vaults = ", ".join(f"{vault.vault_id} ({vault.folder})" for vault in stack.vaults) or "no vault"
    return (
        f"citebus is already running on {data.root}: process {stack.pid}, since {stack.started_at:%Y-%m-%d %H:%M:%S}, "
        f"with {vaults}; use it with `citebus status` or `citebus search`, {advice}"
    )
