"""The whole system as a fixture."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from shared.topology import Topology
from tests.system import System, running_system


@pytest.fixture
async def system(nats_url: str, topology: Topology, database: str, tmp_path: Path) -> AsyncGenerator[System]:
    """Yield all services, running on an empty vault."""
    async with running_system(nats_url, topology, database, tmp_path) as running:
        yield running
