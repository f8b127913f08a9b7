"""What `citebus doctor` looks at in a vault, and the kernel's limit on watched folders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from deploy.embedded.cli.checks import Finding
from services.ingest.watcher.settings_file import read_settings
from shared.errors import CitebusError

INOTIFY_LIMIT_FILE = Path("/proc/sys/fs/inotify/max_user_watches")

_SHARE = 2
"""Half of the limit is left to editors and other programs of the same user, which draw on it too."""

_LISTED = 3
"""Unreadable files that are named."""


def check_vault(folder: Path) -> Finding:
    """The vault's settings are right and all its files can be read."""
    name = f"vault {folder}"
    try:
        settings = read_settings(folder)
    except CitebusError as error:
        return Finding(name, False, str(error), "correct the vault's settings file")
    files = list(_visible_files(folder))
    unreadable = [file for file in files if not os.access(file, os.R_OK)]
    if unreadable:
        some = ", ".join(str(file.relative_to(folder)) for file in unreadable[:_LISTED])
        seen = f"{len(unreadable)} of {len(files)} files can't be read: {some}"
        return Finding(name, False, seen, "give this user the right to read them (chmod u+r)")
    return Finding(name, True, f"id {settings.vault_id}, {len(files)} files, all readable")


def check_inotify(folders: list[Path], limit_file: Path = INOTIFY_LIMIT_FILE) -> Finding:
    """The kernel lets one user watch all folders of the vaults; elsewhere than on Linux there is no such limit."""
    try:
        limit = int(limit_file.read_text())
    except (OSError, ValueError):
        return Finding("inotify", True, "no limit on watched folders here")
    needed = sum(1 for folder in folders for _ in os.walk(folder))
    seen = f"{limit:,} watches allowed, {needed:,} folders in the vaults"
    advice = f"sudo sysctl fs.inotify.max_user_watches={max(524_288, needed * _SHARE)}"
    return Finding("inotify", needed * _SHARE <= limit, seen, advice)


def _visible_files(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(parent, name) for name in names if not name.startswith("."))
