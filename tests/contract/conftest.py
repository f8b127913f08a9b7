"""A vector store of each kind, for the tests of what all of them do."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from shared.embedding.embedder import Space
from shared.vectors.store import VectorStore
from tests.contract.vector_stores import STORES, fast_folder, new_space


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest) -> AsyncGenerator[VectorStore]:
    """Yield an open store."""
    with fast_folder() as folder:
        async with STORES[request.param](folder) as opened:
            yield opened


@pytest.fixture
async def space(store: VectorStore) -> AsyncGenerator[Space]:
    """Yield a space of the store that no other test uses."""
    space = new_space()
    await store.ensure_space(space)
    yield space
    await store.drop_space(space.name)
