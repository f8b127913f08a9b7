"""Fixtures of the watcher's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.watcher.vault import Vault


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """Return an empty vault."""
    return Vault(tmp_path)
