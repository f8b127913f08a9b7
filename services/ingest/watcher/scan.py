"""What the vault's folder holds now, by names and stat alone: no file is opened.

`scan` walks a whole subtree (100,000 files in about a second), `look` asks for single paths. Both are blocking and
meant for a thread. Guarantees: links that leave the vault, links to folders (they leave, loop, or show twice what
stands elsewhere), sockets, pipes and devices are never entries; a folder that can't be listed is reported, so nobody
takes its files for removed; of two disk names with one NFC form the same one wins every time.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from services.ingest.watcher.files import Entry, path_of, second_path_of, shown
from services.ingest.watcher.selection import Selection

_FOLDS_NAMES = sys.platform in ("darwin", "win32")

_NOT_UTF8 = "the file's name is not UTF-8; rename it"
_SAME_NAME = "another file has the same name in another Unicode form; rename one of them"


@dataclass(slots=True)
class Scan:
    """The pages' files below one folder, or at the paths that were asked for."""

    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])
    """By path."""
    blind: list[str] = field(default_factory=list[str])
    """Paths of folders and files that can't be looked at; what is there or below is unknown, not gone."""
    skipped: int = 0
    """Entries that are no page."""
    links: dict[str, str] = field(default_factory=dict[str, str])
    """Disk path of a link to a file of the vault, to the disk path of that file."""


class FolderScanner:
    """Looks at one vault. `root` is the real path of the vault's folder.

    `folds_names`: the file system finds `a.md` when asked for `A.md`, so only a listing tells how a name is spelled.
    """

    def __init__(self, root: str, selection: Selection, *, folds_names: bool = _FOLDS_NAMES) -> None:
        self._root = root
        self._prefix = root.rstrip("/") + "/"
        self._selection = selection
        self._folds_names = folds_names

    def scan(self, folder: str = "") -> Scan:
        """Return all below `folder`, a disk path in the vault; empty is the vault, a missing one has nothing."""
        found = Scan()
        self._walk(folder, found)
        return found

    def look(self, disk_paths: Iterable[str]) -> Scan:
        """Return what is at these disk paths, and below those that are folders; missing ones are left out."""
        found = Scan()
        for disk_path in disk_paths:
            if disk_path and not self._selection.reaches(path_of(disk_path)):
                found.skipped += 1
                continue
            try:
                status = os.lstat(self._prefix + disk_path)
                if self._folds_names and not self._is_spelled(disk_path):
                    continue
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                found.blind.append(path_of(disk_path))
                continue
            self._look_at(disk_path, status, found)
        return found

    def _is_spelled(self, disk_path: str) -> bool:
        folder, _, name = disk_path.rpartition("/")
        return not name or (name in os.listdir(self._prefix + folder) and self._is_spelled(folder))

    def _look_at(self, disk_path: str, status: os.stat_result, found: Scan) -> None:
        if stat.S_ISDIR(status.st_mode):
            if not disk_path or self._selection.enters(path_of(disk_path)):
                self._walk(disk_path, found)
            else:
                found.skipped += 1
        elif self._selection.takes_file(path_of(disk_path)):
            self._add(disk_path, status, found)
        else:
            found.skipped += 1

    def _walk(self, top: str, found: Scan) -> None:
        folders = [top]
        enters, takes_file = self._selection.enters, self._selection.takes_file
        while folders:
            folder = folders.pop()
            for item in self._list(folder, found):
                disk_path = f"{folder}/{item.name}" if folder else item.name
                path = path_of(disk_path)
                try:
                    if item.is_dir(follow_symlinks=False):
                        if enters(path):
                            folders.append(disk_path)
                        else:
                            found.skipped += 1
                    elif takes_file(path):
                        self._add(disk_path, item.stat(follow_symlinks=False), found)
                    else:
                        found.skipped += 1
                except FileNotFoundError:
                    continue  # gone since it was listed
                except OSError:
                    found.blind.append(path)  # its folder may be listed, but not entered

    def _list(self, folder: str, found: Scan) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self._prefix + folder) as items:
                return list(items)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError:
            found.blind.append(path_of(folder))
            return []

    def _add(self, disk_path: str, status: os.stat_result, found: Scan) -> None:
        if stat.S_ISLNK(status.st_mode):
            target = self._inside(disk_path)
            if target is None:
                found.skipped += 1
                return
            found.links[disk_path], status = target
        if not stat.S_ISREG(status.st_mode):
            found.skipped += 1
            return
        entry = _entry(disk_path, status)
        rival = found.entries.get(entry.path)
        if rival is not None and rival.disk_path != entry.disk_path:
            entry, loser = sorted((rival, entry), key=lambda one: (one.disk_path != one.path, one.disk_path))
            loser = loser._replace(path=second_path_of(loser.disk_path), problem=_SAME_NAME)
            found.entries[loser.path] = loser
        found.entries[entry.path] = entry

    def _inside(self, disk_path: str) -> tuple[str, os.stat_result] | None:
        """Return where a link leads and the stat of that, if it is a file of the vault."""
        try:
            real = os.path.realpath(self._prefix + disk_path, strict=True)
            status = os.stat(real)
        except OSError:
            return None  # dangling, or a loop
        return (real[len(self._prefix) :], status) if real.startswith(self._prefix) else None


def _entry(disk_path: str, status: os.stat_result) -> Entry:
    problem = None if shown(disk_path) == disk_path else _NOT_UTF8
    return Entry(path_of(disk_path), disk_path, status.st_size, status.st_mtime_ns, status.st_ino, problem)
