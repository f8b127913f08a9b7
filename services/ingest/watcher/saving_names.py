"""Where a saved page may stand: below `wiki/`, under a name that every file system takes. Pure."""

from __future__ import annotations

import hashlib
import re
from pathlib import PurePosixPath

from shared.contracts.saving import SaveTextRequest
from shared.errors import InvalidInput
from shared.ids import normal_path, slugify

ROOT = "wiki"
FOLDER = f"{ROOT}/queries"
"""Where a page goes that names no path."""

MOST_NAME_BYTES = 200
"""Of one part of a path: file systems take 255, and a temporary name is longer than the page's."""

_MOST_SLUG_BYTES = 100
"""Of a name made of a title: short enough to read, with room for a suffix."""

_MOST_PARTS = 8
"""Folders deep, the file included."""

_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f<>:\"\\|?*#^\[\]]")
"""What Windows takes in no name, and what ends the name in a wikilink."""

_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
"""Devices of Windows: a vault that is synchronised there would break."""


def candidate_paths(request: SaveTextRequest) -> tuple[str, ...]:
    """Return the paths that a request may take, best first: the one it names, else two made of its title.

    The second bears the beginning of the turn's id (of the text's hash without a turn): two answers to one question
    are two pages, and each finds its own again. Raises InvalidInput for a path that may not be.
    """
    if request.path is not None:
        return (checked_path(request.path),)
    slug = _slug(request.title)
    mark = request.turn_id.hex if request.turn_id else hashlib.sha256(request.body.encode()).hexdigest()
    return (f"{FOLDER}/{slug}.md", f"{FOLDER}/{slug}-{mark[:8]}.md")


def checked_path(path: str) -> str:
    """Return the path in NFC. Raises InvalidInput, saying what is wrong, unless it is a safe name below `wiki/`."""
    normal = normal_path(path)
    parts = normal.split("/")
    if parts[0] != ROOT or len(parts) < 2:
        raise InvalidInput(f"'{path[:200]}': a saved page stands below {ROOT}/, for example {FOLDER}/name.md.")
    if len(parts) > _MOST_PARTS:
        raise InvalidInput(f"'{path[:200]}': at most {_MOST_PARTS} parts deep.")
    if not parts[-1].lower().endswith(".md"):
        raise InvalidInput(f"'{path[:200]}': a saved page ends in .md.")
    for part in parts:
        if (fault := _fault(part)) is not None:
            raise InvalidInput(f"'{path[:200]}': {fault}.")
    return normal


def temporary_name(name: str) -> str:
    """Return the name under which a page is written before it has its own: hidden, so no sweep takes it.

    One per page: what a crash left is overwritten by the next try.
    """
    return f".{name}.citebus-tmp"


def _fault(part: str) -> str | None:
    """Return what is wrong with one part of a path."""
    if part in {"", ".", ".."}:
        return "a part of the path is empty, `.` or `..`"
    if _has_lone_surrogate(part) or _FORBIDDEN.search(part):
        return "a name has a character that not every system or link takes"
    if part.startswith((".", "~$")) or part.endswith((".", " ", "~")) or part != part.strip():
        return "a name begins or ends so that it is hidden or lost on some systems"
    if len(part.encode()) > MOST_NAME_BYTES:
        return f"a name is longer than {MOST_NAME_BYTES} bytes"
    if _RESERVED.fullmatch(PurePosixPath(part).stem):
        return "a name is reserved on Windows"
    return None


def _has_lone_surrogate(part: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in part)


def _slug(title: str) -> str:
    """Return a file name of the title, without its ending."""
    plain = title.encode("utf-8", "replace").decode()
    slug = normal_path(slugify(plain)).encode()[:_MOST_SLUG_BYTES].decode("utf-8", "ignore").rstrip("-")
    return f"{slug}-page" if _RESERVED.fullmatch(slug) else slug or "page"
