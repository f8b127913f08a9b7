"""The command line under test, and a vault on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.fakes import CommandLine


@pytest.fixture
def line(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "data")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "wiki").mkdir(parents=True)
    (folder / "wiki" / "tides.md").write_text("# Tides\n\nTwice a day.\n", encoding="utf-8")
    return folder
