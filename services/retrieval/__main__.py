"""`python -m services.retrieval`: the retrieval service as a process.

Servers and limits come from the environment (CITEBUS_*, see docs/settings.md). Ends cleanly on SIGINT and SIGTERM.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from services.retrieval.app import running_retrieval
from services.retrieval.settings import RetrievalSettings
from shared.bus import open_bus
from shared.embedding.build import build_embedder
from shared.embedding.settings import EmbeddingSettings
from shared.postgres.pool import open_pool
from shared.process import run_until_signal
from shared.settings import ServiceSettings
from shared.telemetry import configure_logging, configure_tracing
from shared.vectors.build import open_store


async def _run(stop: asyncio.Event) -> None:
    settings, retrieval = ServiceSettings(), RetrievalSettings()
    async with AsyncExitStack() as stack:
        embedder = build_embedder(EmbeddingSettings())
        stack.push_async_callback(embedder.aclose)
        client = await stack.enter_async_context(open_bus(settings.nats_url, name="citebus-retrieval"))
        dsn = settings.postgres_dsn.get_secret_value()
        pool = await stack.enter_async_context(open_pool(dsn, max_size=retrieval.pool_size, read_only=True))
        store = await stack.enter_async_context(open_store(settings))
        await stack.enter_async_context(running_retrieval(client, settings.topology, pool, store, embedder, retrieval))
        await stop.wait()


def main() -> None:
    """Run until a signal."""
    settings = ServiceSettings()
    configure_logging(level=settings.log_level, style=settings.log_format)
    configure_tracing("retrieval")
    run_until_signal(_run)


if __name__ == "__main__":
    main()
