"""Sizes and names hold in the tree, and the rules that say so can fail."""

from __future__ import annotations

from pathlib import Path

from tests.architecture.rules_of_shape import drawers, long_files, long_functions
from tests.architecture.source import ROOT, plant


def test_no_file_is_longer_than_its_limit() -> None:
    found = long_files(ROOT)
    assert not found, "\n".join(found)


def test_no_function_is_longer_than_a_screen() -> None:
    found = long_functions(ROOT)
    assert not found, "\n".join(found)


def test_no_module_is_named_like_a_drawer() -> None:
    found = drawers(ROOT)
    assert not found, "\n".join(found)


def test_a_file_of_251_lines_is_seen_and_an_adapter_may_have_300(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        {
            "shared/fits.py": "\n" * 250,
            "shared/long.py": "\n" * 251,
            "services/ingest/adapters/fits.py": "\n" * 300,
            "services/ingest/adapters/long.py": "\n" * 301,
            "shared/vectors/fits.py": "\n" * 300,
        },
    )
    assert [found.split(":")[0] for found in long_files(root)] == ["services/ingest/adapters/long.py", "shared/long.py"]


def test_a_function_of_41_lines_is_seen_at_any_depth(tmp_path: Path) -> None:
    fits = "def fits():\n" + "    pass\n" * 39
    long = "class Outer:\n    async def long(self):\n" + "        pass\n" * 40
    root = plant(tmp_path, {"tests/a.py": fits + long})
    assert long_functions(root) == ["tests/a.py:42 long: 41 lines, at most 40"]


def test_a_drawer_is_seen_in_every_part_of_a_path(tmp_path: Path) -> None:
    names = ("shared/utils.py", "shared/core/x.py", "tests/bus_helpers.py", "shared/score.py", "shared/baseline.py")
    found = drawers(plant(tmp_path, dict.fromkeys(names, "")))
    assert [line.split(":")[0] for line in found] == ["shared/core/x.py", "shared/utils.py", "tests/bus_helpers.py"]
