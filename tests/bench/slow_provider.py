"""An embedding provider on loopback that has a model's speed: so many texts a second, whoever asks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from tests.fakes.embedding_servers import Answer, EmbeddingServer, Fault, SeenRequest

_DIMENSION = 256


class SlowServer(EmbeddingServer):
    """Answers one request after the other, each as late as its texts demand."""

    def __init__(self, texts_per_s: float) -> None:
        super().__init__("openai", _DIMENSION)
        self._texts_per_s = texts_per_s
        self._turn = asyncio.Lock()

    async def _answer(self, seen: SeenRequest, fault: Fault | None) -> Answer:
        async with self._turn:
            await asyncio.sleep(len(seen.texts) / self._texts_per_s)
        return await super()._answer(seen, fault)


@asynccontextmanager
async def slow_provider(texts_per_s: float) -> AsyncGenerator[dict[str, str]]:
    """Yield the environment in which the product uses the provider."""
    provider = SlowServer(texts_per_s)
    server = await asyncio.start_server(provider.serve, "127.0.0.1", 0, limit=2**24)
    try:
        yield {
            "CITEBUS_EMBEDDING_PROVIDER": "openai",
            "CITEBUS_EMBEDDING_BASE_URL": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1",
            "CITEBUS_EMBEDDING_MODEL": "slow",
            "CITEBUS_EMBEDDING_DIMENSION": str(_DIMENSION),
        }
    finally:
        server.close()
