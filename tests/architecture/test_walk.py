"""ARCHITECTURE.md leads to code that exists, and a step that leads nowhere is seen."""

from __future__ import annotations

from pathlib import Path

from tests.architecture.source import ROOT, plant
from tests.architecture.walk import missing_steps, steps

PAGE = """\
| step | file | symbol | what you see |
|---|---|---|---|
| 1 | `shared/a.py` | `Store.put` | a \\| b |
| 2 | `shared/a.py` | `LIMIT` | |
| 3 | `shared/a.sql` | `CREATE TABLE pages` | |

| other | table |
|---|---|
| x | y |
"""
CODE = "LIMIT: int = 1\nclass Store:\n    async def put(self): ...\n"
SQL = "CREATE TABLE pages ();"


def test_every_step_of_the_walk_exists() -> None:
    found = missing_steps(ROOT)
    assert not found, "\n".join(found)


def test_the_walk_leads_through_every_service() -> None:
    files = {step.file for step in steps((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))}
    services = [folder.name for folder in sorted((ROOT / "services").iterdir()) if (folder / "__init__.py").is_file()]
    for service in services:
        assert any(file.startswith(f"services/{service}/") for file in files), (
            f"the walk does not pass services/{service}"
        )


def test_a_complete_walk_passes(tmp_path: Path) -> None:
    root = plant(tmp_path, {"ARCHITECTURE.md": PAGE, "shared/a.py": CODE, "shared/a.sql": SQL})
    assert [step.symbol for step in steps(PAGE)] == ["Store.put", "LIMIT", "CREATE TABLE pages"]
    assert missing_steps(root) == []


def test_missing_files_and_symbols_and_gaps_are_seen(tmp_path: Path) -> None:
    page = PAGE.replace("Store.put", "Store.get").replace("| 2 |", "| 4 |").replace("LIMIT", "Store.put.inner")
    root = plant(tmp_path, {"ARCHITECTURE.md": page, "shared/a.py": CODE})
    assert missing_steps(root) == [
        "step 1: no Store.get in shared/a.py",
        "step 4 should be 2",
        "step 4: no Store.put.inner in shared/a.py",
        "step 3: no file shared/a.sql",
    ]
