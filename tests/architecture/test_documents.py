"""Documents name files that exist, and one that does not is seen."""

from __future__ import annotations

from pathlib import Path

from tests.architecture.rules_of_documents import dead_references
from tests.architecture.source import ROOT, plant


def test_documents_name_only_what_exists() -> None:
    found = dead_references(ROOT)
    assert not found, "\n".join(found)


def test_dead_links_and_paths_are_seen_and_living_ones_pass(tmp_path: Path) -> None:
    page = (
        "[a](docs/a.md#part) [b](docs/b.md) [c](https://example.org/x.md) `shared/a.py` `shared/b.py` `shared/NNNN.sql`"
    )
    root = plant(tmp_path, {"README.md": page, "docs/a.md": "[up](../README.md) [no](../NO.md)", "shared/a.py": ""})
    assert dead_references(root) == ["README.md: no shared/b.py", "README.md: no docs/b.md", "docs/a.md: no ../NO.md"]
