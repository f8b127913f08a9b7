"""What changed between the published state and the disk, and which page each file is. Pure.

Identity, strongest sign first:

1. Same inode and same content at another path: the page moved there (rename, folder move, two names swapped). Unless
   that path is the home of another page that stays where it is: then the file was written over it (an atomic save by
   a temporary file that was itself a page for a moment), and the path keeps its page.
2. Same inode, another but similar text, the old path gone: moved and edited. Similar, since file systems give a
   freed inode to the next new file.
3. Same content and not empty, the old path gone (a copy that was then deleted, a checkout, a sync tool).
4. Same path: the same page, whatever its inode (editors save by renaming a new file over the old one).

Of several files that match alike, pairs are made from the outside in: those that agree in the most trailing parts of
their paths first, down to none. A pair is made only when it is the only one; where that leaves several alike, the
old pages are removed and the new files are new pages, rather than guessed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar
from uuid import UUID

from services.ingest.watcher.files import Entry, Known
from shared.ids import page_id

_T = TypeVar("_T")

_TRAILING_PARTS = (8, 4, 3, 2, 1, 0)
"""How many trailing parts of two paths must agree, in turn; a folder's move keeps all but the first ones."""


@dataclass(slots=True)
class Difference:
    """The files of a scope, sorted by what their stat says."""

    suspects: list[tuple[Entry, Known]] = field(default_factory=list[tuple[Entry, Known]])
    """Published, and perhaps changed: to be read."""
    fresh: list[Entry] = field(default_factory=list[Entry])
    """Not published."""
    gone: list[Known] = field(default_factory=list[Known])
    """Published, and not on the disk."""
    unchanged: int = 0

    @property
    def shifted(self) -> list[tuple[Entry, Known]]:
        """The suspects whose path leads to another inode than before."""
        return [(entry, known) for entry, known in self.suspects if known.inode not in (None, entry.inode)]


class Present(NamedTuple):
    """To publish: what is at a path now."""

    entry: Entry
    page_id: UUID
    moved_from: str | None
    replaces: Known | None
    """The row of the path when this was planned; another row then means that the plan is old."""


class Removed(NamedTuple):
    """To publish: nothing is at the path any more."""

    known: Known
    moved_to: str | None


Step = Present | Removed


def compare(
    known: Iterable[Known],
    entries: Mapping[str, Entry],
    blind: Collection[str] = (),
    doubt: Callable[[str], bool] = lambda _: False,
) -> Difference:
    """Sort the files of a scope. `doubt` says for which paths the same stat does not mean the same content.

    Files at or below a blind path are neither gone nor changed.
    """
    result = Difference()
    left = dict(entries)
    for row in known:
        entry = left.pop(row.path, None)
        if entry is None:
            if not blind or not _is_blind(row.path, blind):
                result.gone.append(row)
        elif _same(entry, row) and not doubt(row.path):
            result.unchanged += 1
        else:
            result.suspects.append((entry, row))
    result.fresh.extend(left.values())
    return result


def to_hash(difference: Difference, removed: Iterable[Known] = ()) -> list[Entry]:
    """Return the entries whose content must be known before pages are told apart: those that may be a moved page.

    A moved page has the size of a page that left its path; so a thousand new files are not read for one removal.
    """
    paths_by_size = defaultdict[int, set[str]](set)
    for row in (*difference.gone, *removed, *(row for _, row in difference.shifted)):
        if row.content_hash is not None:
            paths_by_size[row.size].add(row.path)
    candidates = (*difference.fresh, *(entry for entry, _ in difference.shifted))
    return [entry for entry in candidates if paths_by_size.get(entry.size, set[str]()) - {entry.path}]


def renamed(difference: Difference, hashes: Mapping[str, str]) -> dict[str, Known]:
    """Return the pages that moved with inode and content, by their new path (rule 1).

    `hashes`: content by path, at least of what `to_hash` names.
    """
    sources = [(row, (row.inode, row.content_hash)) for row in difference.gone if row.inode is not None]
    sources += [(row, (row.inode, row.content_hash)) for _, row in difference.shifted]
    targets = [(entry, (entry.inode, hashes.get(entry.path))) for entry in difference.fresh]
    targets += [(entry, (entry.inode, hashes.get(entry.path))) for entry, _ in difference.shifted]
    moves = _pairs(sources, [target for target in targets if target[1][1] is not None])
    homes = {row.path: row for _, row in difference.shifted}
    while kept := _staying(moves, homes):
        for path in kept:
            del moves[path]
    return moves


def perhaps_edited(difference: Difference, moves: Mapping[str, Known]) -> dict[str, Known]:
    """Return the removed pages whose inode a new file bears, by that file's path: rule 2, if the texts are similar."""
    left, fresh = _left(difference, moves)
    by_inode = {row.inode: row for row in left if row.inode is not None}
    return {entry.path: by_inode[entry.inode] for entry in fresh if entry.inode in by_inode}


def recreated(
    difference: Difference, hashes: Mapping[str, str], moves: Mapping[str, Known], removed: Iterable[Known] = ()
) -> dict[str, Known]:
    """Return the removed pages whose content a new file has, by that file's path (rule 3).

    `removed`: pages whose removal was published a moment ago; a tool may delete first and create then.
    """
    left, fresh = _left(difference, moves)
    here = {entry.path for entry in difference.fresh}
    left += [row for row in removed if row.path not in here]
    sources = [(row, row.content_hash) for row in left if row.content_hash is not None]
    targets = [(entry, hashes[entry.path]) for entry in fresh if entry.path in hashes and entry.size]
    return _pairs(sources, targets)


def similar(old: bytes, new: bytes) -> bool:
    """Say whether one text may be an edited form of the other: three in ten of their distinct words are common."""
    before, after = set(old.split()), set(new.split())
    return bool(before) and 10 * len(before & after) >= 3 * len(before | after)


def plan(
    vault_id: str,
    difference: Difference,
    moves: Mapping[str, Known],
    row_of: Callable[[str], Known | None],
    holders: Callable[[UUID], Collection[str]],
) -> list[Step]:
    """Return what to publish: each move's new path and then its old one, then other files, then removals.

    `row_of` gives the manifest's row of a path, removed or not; `holders` the paths whose rows bear a page id.
    """
    moved_to = {row.page_id: path for path, row in moves.items()}
    entries = {entry.path: entry for entry in (*difference.fresh, *(entry for entry, _ in difference.suspects))}
    given = set(moved_to)
    steps: list[Step] = []
    for path, row in moves.items():
        steps.append(Present(entries.pop(path), row.page_id, row.path, row_of(path)))
        if row.path not in entries and row.path not in moves and row.change != "removed":
            steps.append(Removed(row, path))
    for path, entry in entries.items():
        row = row_of(path)
        if row is not None and row.page_id not in given:
            page = row.page_id
        else:
            page = _new_page(vault_id, path, lambda one: one in given or bool(holders(one)))
        given.add(page)
        steps.append(Present(entry, page, None, row))
    steps.extend(Removed(row, None) for row in difference.gone if row.page_id not in moved_to)
    return steps


def _new_page(vault_id: str, path: str, in_use: Callable[[UUID], bool]) -> UUID:
    attempt = 0
    while in_use(page_id(vault_id, path, attempt)):
        attempt += 1
    return page_id(vault_id, path, attempt)


def _same(entry: Entry, row: Known) -> bool:
    """Say whether a file is as it was published; any other time counts, not only a later one: clocks are set back."""
    if not row.published or entry.disk_path != row.disk_path:
        return False
    if entry.problem is not None or row.change != "present":
        return entry.problem is not None and entry.problem == row.reason
    return row.size == entry.size and row.mtime_ns == entry.mtime_ns and row.inode == entry.inode


def _is_blind(path: str, blind: Collection[str]) -> bool:
    return any(path == folder or not folder or path.startswith(folder + "/") for folder in blind)


def _left(difference: Difference, moves: Mapping[str, Known]) -> tuple[list[Known], list[Entry]]:
    """Return the gone pages and the fresh files that no move explains."""
    moved = {row.path for row in moves.values()}
    return (
        [row for row in difference.gone if row.path not in moved],
        [entry for entry in difference.fresh if entry.path not in moves],
    )


def _staying(moves: Mapping[str, Known], homes: Mapping[str, Known]) -> list[str]:
    """Return the targets that are the home of a page which itself moves nowhere."""
    moved = {row.path for row in moves.values()}
    return [path for path in moves if path in homes and path not in moved]


def _pairs(sources: list[tuple[Known, _T]], targets: list[tuple[Entry, _T]]) -> dict[str, Known]:
    """Pair by equal key; of several with one key by the most trailing path parts; only pairs that are the only one."""
    found: dict[str, Known] = {}
    for parts in _TRAILING_PARTS:
        groups = defaultdict[tuple[_T, str], tuple[list[Known], list[Entry]]](lambda: ([], []))
        for row, key in sources:
            groups[key, _ending(row.path, parts)][0].append(row)
        for entry, key in targets:
            groups[key, _ending(entry.path, parts)][1].append(entry)
        for rows, entries in groups.values():
            if len(rows) == len(entries) == 1 and rows[0].path != entries[0].path:
                found[entries[0].path] = rows[0]
        taken = {row.path for row in found.values()}
        sources = [(row, key) for row, key in sources if row.path not in taken]
        targets = [(entry, key) for entry, key in targets if entry.path not in found]
    return found


def _ending(path: str, parts: int) -> str:
    return "/".join(path.split("/")[-parts:]) if parts else ""
