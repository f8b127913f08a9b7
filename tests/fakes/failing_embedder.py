"""An embedder that is away until it is let back, or slow."""

from __future__ import annotations

import asyncio

from shared.embedding.embedder import Vector, Vectors
from shared.embedding.hashing import HashingEmbedder
from shared.errors import Unavailable


class FailingEmbedder:
    """Wraps the hashing embedder; `away` makes every call fail, `seconds_per_text` makes documents slow."""

    def __init__(self, *, away: bool = False, seconds_per_text: float = 0.0) -> None:
        self.inner = HashingEmbedder()
        self.away = away
        self.seconds_per_text = seconds_per_text

    @property
    def model(self) -> str:
        """Name of the model."""
        return self.inner.model

    @property
    def dimension(self) -> int:
        """Length of vectors."""
        return self.inner.dimension

    async def embed_documents(self, texts: list[str]) -> Vectors:
        """Embed, or fail."""
        self._check()
        await asyncio.sleep(self.seconds_per_text * len(texts))
        self._check()
        return await self.inner.embed_documents(texts)

    async def embed_query(self, text: str) -> Vector:
        """Embed, or fail."""
        self._check()
        return await self.inner.embed_query(text)

    async def aclose(self) -> None:
        """Do nothing."""

    def _check(self) -> None:
        if self.away:
            raise Unavailable("The provider is away.", retry_after_s=0.1)
