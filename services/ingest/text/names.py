"""Names of pages: what a path is called, for titles and for finding the pages that a link may mean."""

from __future__ import annotations

import re

from shared.ids import normal_path

_MARKDOWN = re.compile(r"\.(?:md|markdown)$", re.IGNORECASE)


def page_name(path: str) -> str:
    """Return the last part of a path without `.md` or `.markdown`; other endings stay. `.md` alone is its own name."""
    name = path.rpartition("/")[2]
    return without_extension(name) or name


def page_stem(path: str) -> str:
    """Return the name in lower case and NFC: pages and links with the same stem may belong together."""
    return normal_path(page_name(path)).lower()


def without_extension(path: str) -> str:
    """Return a path without `.md` or `.markdown`."""
    return _MARKDOWN.sub("", path)


def lexical_text(path: str, embed_text: str) -> str:
    """Return what BM25 counts of a chunk: the file's name in front of what is embedded."""
    return f"{page_name(path)}\n{embed_text}"
