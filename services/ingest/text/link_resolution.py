"""Which page a link means, as in Obsidian: the exact path, else the page of that name, else the one nearest the root.

Letter case, NFC or NFD, and the ending `.md` make no difference. Pure: the caller brings the pages that may be meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import join, normpath
from typing import Literal
from uuid import UUID

from services.ingest.page import Link
from services.ingest.text.names import without_extension
from shared.ids import normal_path

LinkState = Literal["resolved", "dead", "ambiguous"]


def resolve(link: Link, from_path: str, candidates: Sequence[tuple[UUID, str]]) -> tuple[LinkState, UUID | None]:
    """Return the state of a link that stands in the page at `from_path`, and the page when it is resolved.

    `candidates` are all pages of the vault whose stem is `link.target_stem`, the linking page included if it is one.

    * No target: the page itself, resolved always (its id is None if it is not among the candidates).
    * A Markdown link, or a wikilink that begins with `./`, `../` or `/`: the path from the page's folder, or from the
      vault's root after `/`, with or without `.md`.
    * Another wikilink: the page at exactly that path; else those whose path ends with it, if one alone has the
      fewest folders. Several with the fewest folders are ambiguous.
    """
    pages = [(page, _key(path)) for page, path in candidates]
    own = _key(from_path)
    if not link.target:
        return "resolved", next((page for page, path in pages if path == own), None)
    target, is_path = _key(link.target), link.kind == "markdown" or link.target.startswith(("./", "../", "/"))
    exact = _from_folder(target, own.rpartition("/")[0]) if is_path else target
    found = [page for page, path in pages if path == exact]
    if found:
        return _only(found)
    return _nearest_root([(page, path) for page, path in pages if not is_path and path.endswith("/" + target)])


def _from_folder(target: str, folder: str) -> str:
    """Fold `.` and `..`; a path that leaves the vault keeps its `..` and so is no page's."""
    return normpath(join(folder, target)).lstrip("/")


def _nearest_root(pages: Sequence[tuple[UUID, str]]) -> tuple[LinkState, UUID | None]:
    if not pages:
        return "dead", None
    fewest = min(path.count("/") for _, path in pages)
    return _only([page for page, path in pages if path.count("/") == fewest])


def _only(pages: Sequence[UUID]) -> tuple[LinkState, UUID | None]:
    """Two pages at one path differ in letter case alone, and no link can tell them apart."""
    return ("resolved", pages[0]) if len(pages) == 1 else ("ambiguous", None)


def _key(path: str) -> str:
    return without_extension(normal_path(path)).rstrip("/").lower()
