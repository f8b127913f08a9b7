"""One machine per module, so that one running stack serves many tests."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.e2e.machine import Machine, new_machine


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark these tests: they need the servers' wheels."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("real")


@pytest.fixture
def machine(wheels: None, data_dir: Path) -> Machine:
    """Return a machine without any state, with the embedder for tests."""
    return Machine(data_dir.parent)


@pytest.fixture(scope="module")
def shared_machine(wheels: None) -> Generator[Machine]:
    """Yield a machine with the embedder for tests, the same for all tests of a module."""
    with new_machine() as machine:
        yield machine


@pytest.fixture(scope="module")
def sample_machine(wheels: None) -> Generator[Machine]:
    """Yield a machine with the bundled model, the same for all tests of a module."""
    with new_machine({}) as machine:
        yield machine
