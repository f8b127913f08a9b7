"""Documents name files that exist: a page that leads nowhere is worse than none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.source import EVERYTHING

PAGES = ("*.md", "docs/*.md", "docs/adr/*.md")

FOLDERS = "|".join((*EVERYTHING, "docs", "schemas"))
NAMED_PATH = re.compile(rf"`((?:{FOLDERS})/[\w./-]+)`")
"""A path in backticks; one with a placeholder, `<name>` or `NNNN`, is none."""

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def dead_references(root: Path) -> list[str]:
    """Links between documents and paths in backticks that do not exist."""
    return [
        f"{page.relative_to(root).as_posix()}: no {reference}"
        for pattern in PAGES
        for page in sorted(root.glob(pattern))
        for reference, target in _targets(root, page)
        if "NNNN" not in reference and not target.exists()
    ]


def _targets(root: Path, page: Path) -> Iterator[tuple[str, Path]]:
    text = page.read_text(encoding="utf-8")
    yield from ((path, root / path) for path in NAMED_PATH.findall(text))
    yield from ((link, page.parent / link) for link in LINK.findall(text) if "://" not in link)
