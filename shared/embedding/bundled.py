"""The default embedder: bge-small-en-v1.5 (int8 ONNX) on the CPU, offline, from a wheel.

Model: Xiao et al., C-Pack, 2023 (MIT); 384 dimensions, queries with a prefix. Guarantees: no network, and the same text
gives the same vector whatever is embedded beside it. Documents share a small pool of threads with low priority, and
queries have a thread of their own, so that a bulk load does not hold back a search.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np

from shared.embedding.embedder import Vector, Vectors
from shared.embedding.sentence_encoder import SentenceEncoder, load_sentence_encoder

MODEL_NAME = "bge-small-en-v1.5"
DIMENSION = 384
QUERY_CHARS = 1_000
"""Of a query: two windows of the model at most, even in scripts with a token per character; some 30 ms."""

QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
"""The model was trained with it on queries only."""

_NICE = 10
"""Half-way to the lowest priority: everything else in the process and on the machine goes first."""


class BundledEmbedder:
    """Loads on first use, or at `warm_up`. InvalidInput when the weights are missing or have changed."""

    def __init__(self, threads: int = 2, load: Callable[[], SentenceEncoder] = load_sentence_encoder) -> None:
        self._load = load
        self._encoder: SentenceEncoder | None = None
        self._loading = threading.Lock()
        self._documents = ThreadPoolExecutor(threads, "embed-documents", initializer=_lower_priority)
        self._queries = ThreadPoolExecutor(1, "embed-query")

    @property
    def model(self) -> str:
        """Name of the model, part of the space's name."""
        return MODEL_NAME

    @property
    def dimension(self) -> int:
        """Length of every vector: 384."""
        return DIMENSION

    async def warm_up(self) -> None:
        """Load the model now, so that a missing file is seen at start and the first query is fast."""
        await self.embed_query("warm up")

    async def embed_documents(self, texts: list[str]) -> Vectors:
        """Return one unit vector per text, in order. When cancelled, texts not yet begun are not embedded."""
        if not texts:
            return np.empty((0, DIMENSION), dtype=np.float32)
        loop = asyncio.get_running_loop()
        return np.stack(await asyncio.gather(*(loop.run_in_executor(self._documents, self._encode, t) for t in texts)))

    async def embed_query(self, text: str) -> Vector:
        """Return the unit vector of the query, with the model's prefix for queries.

        What is beyond QUERY_CHARS is left out: a question says early what it asks for, and long ones would keep all
        others waiting.
        """
        query = QUERY_PREFIX + text[:QUERY_CHARS]
        return await asyncio.get_running_loop().run_in_executor(self._queries, self._encode, query)

    async def aclose(self) -> None:
        """Wait for the texts in work (at most one per thread), then release threads and model."""
        for pool in (self._documents, self._queries):
            await asyncio.to_thread(pool.shutdown, cancel_futures=True)
        self._encoder = None

    def _encode(self, text: str) -> Vector:
        with self._loading:
            encoder = self._encoder = self._encoder or self._load()
        return encoder.encode(text)


def _lower_priority() -> None:
    """Let the calling thread yield to all others. Only Linux has priorities per thread; elsewhere nothing is done."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
