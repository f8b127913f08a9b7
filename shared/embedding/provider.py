"""A provider as the HTTP embedder sees it: its model, its address, and how hard it may be worked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx

from shared.embedding.retrying import RetryPolicy
from shared.embedding.windows import WindowLimits


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model as the space sees it.

    Prefixes go before each text (each window of a long one), for models that were trained with them.
    """

    name: str
    dimension: int
    document_prefix: str = ""
    query_prefix: str = ""

    @property
    def space_model(self) -> str:
        """Name in the space: another document prefix makes other vectors, so it makes another name."""
        if not self.document_prefix:
            return self.name
        return f"{self.name}-p{hashlib.sha256(self.document_prefix.encode()).hexdigest()[:6]}"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the provider is. `timeout_s` is for one whole request, from connecting to the last byte."""

    base_url: str
    api_key: str = field(default="", repr=False)
    timeout_s: float = 60.0

    @property
    def provider(self) -> str:
        """How messages call it: without path and credentials."""
        return f"the embedding provider at {httpx.URL(self.base_url).netloc.decode()}"


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What one request may hold, and how many run at once; queries have as many places again."""

    max_texts: int = 64
    max_chars: int = 200_000
    concurrency: int = 4
    window: WindowLimits = field(default_factory=lambda: WindowLimits(7_500))


@dataclass(frozen=True, slots=True)
class Conduct:
    """How the embedder behaves over time; tests give their own clock, sleep and jitter."""

    limits: RequestLimits = field(default_factory=RequestLimits)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
