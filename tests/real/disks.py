"""Small disks of their own, to be filled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

MB = 2**20


@contextmanager
def small_disk(folder: Path, size_mb: int) -> Generator[Path]:
    """Mount a disk of this size at a folder; skips where that is not allowed."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root on Linux may mount a small disk to fill")
    folder.mkdir(mode=0o711, parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size_mb}m,mode=0711", "tmpfs", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no small disk to fill: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def filled(folder: Path, leave_mb: int = 0) -> Generator[None]:
    """Fill the folder's disk up to so much until the block ends."""
    ballast = folder / "ballast"
    size = shutil.disk_usage(folder).free - leave_mb * MB
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, size)
    try:
        yield
    finally:
        ballast.unlink()
