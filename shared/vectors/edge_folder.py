"""Folders and small files of the in-process vector store: who has it open, and which shard of a space is current.

    <root>/LOCK                     held by the one process that has the store open
    <root>/<space>/CURRENT          names the current shard; replaced atomically
    <root>/<space>/<generation>/    a shard; any but the current one is left over from a crash and removed

At every moment, and after a crash at any moment, CURRENT names a complete shard or does not exist.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO
from uuid import uuid4

from shared.errors import InvalidInput, Unavailable

_SPACE = re.compile(r"[a-z0-9][a-z0-9-]{0,127}")
"""A space's name is a folder's: nothing that could lead elsewhere."""


@dataclass(frozen=True, slots=True)
class Current:
    """What CURRENT says, as JSON."""

    generation: str
    dimension: int
    points: int = 0
    """Points in it when it was made."""
    indexed: int = 0
    """Vectors in its graph and its sparse index when it was made."""
    format: int = 1


class SpaceFolder:
    """The folder of one space."""

    def __init__(self, root: Path, space: str) -> None:
        if not _SPACE.fullmatch(space):
            raise InvalidInput(f"{space!r} can't name a space: lower-case letters, digits and hyphens, at most 128.")
        self.path = root / space
        self._pointer = self.path / "CURRENT"

    def current(self) -> Current | None:
        """Return which shard is current, None when there is none. Raises InvalidInput when CURRENT is damaged."""
        try:
            said = json.loads(self._pointer.read_text())
            return Current(str(said["generation"]), int(said["dimension"]), int(said["points"]), int(said["indexed"]))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise self.damaged(error) from error

    def damaged(self, cause: Exception) -> InvalidInput:
        """Return the error for a folder that can't be read, with the way out."""
        return InvalidInput(
            f"The vectors in {self.path} are damaged ({cause}). Stop citebus, delete that folder and start again: "
            "it is filled anew from Postgres, and nothing is embedded again."
        )

    def generation(self, name: str | None = None) -> Path:
        """Return the folder of a shard; without a name, of one that never was."""
        return self.path / (name or uuid4().hex)

    def switch(self, current: Current) -> None:
        """Make a complete shard the current one, atomically and durably."""
        fresh = self.path / "CURRENT.new"
        with fresh.open("w") as file:
            json.dump(asdict(current), file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._pointer)
        folder = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def remove_leftovers(self, current: Current | None) -> None:
        """Remove every shard but the current one."""
        for entry in self.path.iterdir() if self.path.exists() else ():
            if entry.is_dir() and (current is None or entry.name != current.generation):
                shutil.rmtree(entry, ignore_errors=True)

    def remove(self) -> None:
        """Remove the space; the pointer goes first, so that a crash leaves no half of it."""
        self._pointer.unlink(missing_ok=True)
        shutil.rmtree(self.path, ignore_errors=True)


def lock_folder(root: Path) -> IO[str]:
    """Take the store's folder for this process until the returned file is closed or the process ends.

    Creates it where missing. Raises Unavailable when another process has it, or when it can't be written.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        file = (root / "LOCK").open("a+")
    except OSError as error:
        raise Unavailable(f"The vector store's folder {root} can't be written: {error.strerror}.") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.seek(0)
        holder = file.read().strip() or "unknown"
        file.close()
        raise Unavailable(
            f"The vector store in {root} is open in another process (pid {holder}). Only one at a time may have it "
            "open: stop that one, or choose another data folder."
        ) from error
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file
