"""From settings to a vector store: a Qdrant server where a URL is given, else the engine in a process of its own."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from shared.errors import InvalidInput
from shared.settings import ServiceSettings
from shared.vectors.store import VectorStore


@asynccontextmanager
async def open_store(settings: ServiceSettings) -> AsyncGenerator[VectorStore]:
    """Open the store and close it at the end. Raises InvalidInput when neither URL nor folder is set, Unavailable."""
    store = await _open(settings)
    try:
        yield store
    finally:
        await store.aclose()


async def _open(settings: ServiceSettings) -> VectorStore:
    if settings.qdrant_url:
        from shared.vectors.server import QdrantServerStore  # noqa: PLC0415  (extra `server`)

        key = settings.qdrant_api_key.get_secret_value() if settings.qdrant_api_key else None
        return QdrantServerStore.connect(settings.qdrant_url, api_key=key)
    if settings.edge_dir is None:
        raise InvalidInput("Set CITEBUS_QDRANT_URL (a server), or CITEBUS_EDGE_DIR (a folder for one process).")
    from shared.vectors.edge_process import EdgeProcessStore  # noqa: PLC0415

    return await EdgeProcessStore.open(settings.edge_dir)
