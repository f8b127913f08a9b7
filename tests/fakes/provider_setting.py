"""An HTTP embedder beside its scripted provider, with a clock that stands and waits that are noted, not waited."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx

from shared.embedding.embedder import Vectors
from shared.embedding.http_embedder import HttpEmbedder
from shared.embedding.ollama import OllamaWire
from shared.embedding.openai_compatible import OpenAICompatibleWire
from shared.embedding.provider import Conduct, Endpoint, ModelSpec, RequestLimits
from shared.embedding.retrying import RetryPolicy
from shared.embedding.windows import WindowLimits
from tests.fakes.embedding_servers import EmbeddingServer

KEY = "sk-very-secret"
NOW = datetime(2025, 3, 1, 12, 0, 0, tzinfo=UTC)
LIMITS = RequestLimits(max_texts=2, concurrency=2, window=WindowLimits(100))


@dataclass
class ProviderSetting:
    """A server, and an embedder that notes its waits instead of waiting."""

    server: EmbeddingServer
    waits: list[float] = field(default_factory=list[float])
    attempts: int = 3

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def embedder(
        self, timeout_s: float = 20.0, limits: RequestLimits = LIMITS, client: httpx.AsyncClient | None = None
    ) -> HttpEmbedder:
        wire = OpenAICompatibleWire("m") if self.server.wire == "openai" else OllamaWire("m")
        retry = RetryPolicy(attempts=self.attempts, sleep=self.sleep, fraction=lambda: 0.0)
        conduct = Conduct(limits, retry, now=lambda: NOW)
        return HttpEmbedder(wire, ModelSpec("m", 64), Endpoint(self.server.url, KEY, timeout_s), conduct, client)

    async def embed(self, *texts: str) -> Vectors:
        embedder = self.embedder()
        try:
            return await embedder.embed_documents(list(texts))
        finally:
            await embedder.aclose()
