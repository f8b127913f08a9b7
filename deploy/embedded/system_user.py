"""The user that Postgres runs as when citebus runs as root, since Postgres refuses to be root."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from shared.errors import InvalidInput

USUAL_NAMES = ("postgres", "citebus")
"""Users that are taken if the system has them; the last is created if it has none."""


@dataclass(frozen=True, slots=True)
class SystemUser:
    """A user without privileges; its supplementary groups do not count."""

    name: str
    uid: int
    gid: int

    def may(self, permission: int, path: Path) -> bool:
        """Tell from the mode of `path` whether the user has `permission` (bits as in `os.R_OK | os.X_OK`)."""
        status = path.stat()
        mode = stat.S_IMODE(status.st_mode)
        if status.st_uid == self.uid:
            mode >>= 6
        elif status.st_gid == self.gid:
            mode >>= 3
        return mode & permission == permission

    def first_blocked(self, folder: Path) -> Path | None:
        """Return the outermost folder on the way to and including `folder` that the user cannot pass, if any."""
        ways = [*reversed(folder.parents), folder]
        return next((way for way in ways if not self.may(os.X_OK, way)), None)


def service_user(data: Path) -> SystemUser | None:
    """Return the user to run Postgres as: None (stay who we are) unless we are root.

    It is whoever owns the folder `data` if it exists and is not root's, else `postgres` or `citebus`, which is
    created when the system has neither. Raises InvalidInput when it cannot be created.
    """
    if os.geteuid() != 0:
        return None
    owner = _owner(data)
    if owner is not None:
        return owner
    known = next((user for user in map(_find, USUAL_NAMES) if user is not None), None)
    return known or _create(USUAL_NAMES[-1])


def _owner(folder: Path) -> SystemUser | None:
    if not folder.exists() or folder.stat().st_uid == 0:
        return None
    try:
        return _user(pwd.getpwuid(folder.stat().st_uid))
    except KeyError:
        raise InvalidInput(f"{folder} belongs to a user that is not known: id {folder.stat().st_uid}") from None


def _find(name: str) -> SystemUser | None:
    try:
        return _user(pwd.getpwnam(name))
    except KeyError:
        return None


def _user(entry: pwd.struct_passwd) -> SystemUser:
    return SystemUser(entry.pw_name, entry.pw_uid, entry.pw_gid)


def _create(name: str) -> SystemUser:
    advice = f"Postgres cannot run as root: create a system user {name}, or run citebus as a user who is not root"
    program = shutil.which("useradd")
    if program is None:
        raise InvalidInput(advice)
    options = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
    made = subprocess.run([program, *options, name], capture_output=True, text=True, check=False)
    user = _find(name)
    if user is None:
        raise InvalidInput(f"{advice} (useradd said: {made.stderr.strip()})")
    return user
