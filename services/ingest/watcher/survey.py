"""Compares the folder with the manifest, whole or at the paths that were touched. Blocking, meant for a thread.

Guarantees: a vault that is not there (missing, not mounted, swapped for another folder, empty at first sight) raises
Unavailable and is never taken for one whose files were all removed.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Collection, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field

from services.ingest.watcher.changes import Difference, compare, perhaps_edited, renamed, to_hash
from services.ingest.watcher.files import Entry, Known, path_of, second_path_of
from services.ingest.watcher.manifest import Manifest
from services.ingest.watcher.reading import Content, read_file
from services.ingest.watcher.scan import FolderScanner, Scan
from services.ingest.watcher.selection import Selection
from shared.errors import Unavailable


@dataclass(slots=True)
class Survey:
    """What was found, and what the pages' identities follow from."""

    difference: Difference
    hashes: dict[str, str]
    """Content hash by path, of the files that may be a moved page."""
    moves: dict[str, Known]
    """Pages that moved for certain, by new path."""
    perhaps_edited: dict[str, Known]
    """Pages that moved if the old and the new text are similar, by new path."""
    removed: list[Known]
    """Pages whose removal was published a moment ago."""
    blind: list[str] = field(default_factory=list[str])
    files: int = 0
    skipped: int = 0


class Surveyor:
    """Surveys one vault under one selection; made anew when the settings change."""

    def __init__(self, root: str, selection: Selection, manifest: Manifest, max_bytes: int) -> None:
        """`root`: real path of the vault. Raises Unavailable when it is not there."""
        self._root = root
        self._identity = folder_identity(root)
        self._scanner = FolderScanner(root, selection)
        self._manifest = manifest
        self._max_bytes = max_bytes
        self._links: dict[str, set[str]] = {}
        self._had_pages = False

    def check_root(self) -> None:
        """Raise Unavailable when the vault's folder is not the one that it was."""
        if folder_identity(self._root) != self._identity:
            raise Unavailable(f"{self._root} is another folder than before; the vault is read anew")

    def everything(self, removed_since_s: float, *, doubt: bool) -> Survey:
        """Survey the whole vault. `doubt`: hash every file, whatever its stat says."""
        self.check_root()
        scan = self._scanner.scan()
        self.check_root()
        if "" in scan.blind:
            raise Unavailable(f"{self._root} can't be listed; give the watcher permission to read it")
        if not scan.entries and not self._had_pages and self._manifest.count():
            self._check_not_empty()
        self._had_pages |= bool(scan.entries)
        self._links.clear()
        return self._survey(scan, self._manifest.below(""), removed_since_s, lambda _: doubt)

    def touched(self, disk_paths: Collection[str], removed_since_s: float) -> Survey:
        """Survey these disk paths, those that are files hashed, and all below those that are or were folders."""
        paths = {spelling for path in disk_paths for spelling in _spellings(path)}
        paths.update(*(self._links.get(path, ()) for path in disk_paths))
        rows = self._rows_at(paths)
        paths.update(row.disk_path for row in rows.values())
        scan = self._scanner.look(sorted(paths))
        asked = set(map(path_of, paths))
        survey = self._survey(scan, rows.values(), removed_since_s, asked.__contains__)
        if survey.difference.gone:
            self.check_root()
        return survey

    def _check_not_empty(self) -> None:
        """Raise Unavailable for a folder without any content. One that had some may lose it all."""
        with _reachable(self._root), os.scandir(self._root) as items:
            empty = next(items, None) is None
        if empty:
            advice = "if it is meant to be empty, put a .citebus.toml into it"
            raise Unavailable(f"{self._root} is empty, but had pages: is it mounted? Nothing was removed; {advice}")

    def is_there(self, row: Known) -> bool:
        """Say whether a file that was published is on the disk and a page; one that can't be looked at may be."""
        scan = self._scanner.look((row.disk_path,))
        return bool(scan.blind) or row.path in scan.entries

    def _rows_at(self, disk_paths: Iterable[str]) -> dict[str, Known]:
        rows: dict[str, Known] = {}
        for path in {path for disk_path in disk_paths for path in (path_of(disk_path), second_path_of(disk_path))}:
            row = self._manifest.get(path)
            if row is not None and row.change != "removed":
                rows[path] = row
            elif row is None:
                rows.update((below.path, below) for below in self._manifest.below(path))
        return rows

    def _survey(
        self, scan: Scan, known: Iterable[Known], removed_since_s: float, doubt: Callable[[str], bool]
    ) -> Survey:
        for link, target in scan.links.items():
            self._links.setdefault(target, set()).add(link)
        difference = compare(known, scan.entries, scan.blind, doubt)
        removed = self._manifest.removed_since(removed_since_s) if difference.fresh else []
        hashes = self._hash(to_hash(difference, removed))
        moves = renamed(difference, hashes)
        edited = perhaps_edited(difference, moves)
        return Survey(difference, hashes, moves, edited, removed, scan.blind, len(scan.entries), scan.skipped)

    def _hash(self, entries: Iterable[Entry]) -> dict[str, str]:
        found: dict[str, str] = {}
        for entry in entries:
            if entry.problem is None:
                reading = read_file(f"{self._root}/{entry.disk_path}", self._max_bytes)
                if isinstance(reading, Content):
                    found[entry.path] = reading.content_hash
        return found


def _spellings(disk_path: str) -> set[str]:
    """Return the disk paths that have one identity: where one was, another may be now."""
    if disk_path.isascii():
        return {disk_path}
    return {disk_path, *(unicodedata.normalize(form, disk_path) for form in ("NFC", "NFD"))}


def folder_identity(root: str) -> tuple[int, int]:
    """Return device and inode of a vault's folder; raises Unavailable when it is missing or no folder."""
    with _reachable(root), os.scandir(root):
        status = os.stat(root)
    return status.st_dev, status.st_ino


@contextmanager
def _reachable(root: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(f"the vault's folder {root} can't be read: {error.strerror}; is it mounted?") from error
