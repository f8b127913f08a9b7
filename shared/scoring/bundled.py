"""The default scorer: a cross-encoder (int8 ONNX) on the CPU, offline, from a wheel. English only.

Nothing is loaded before the first call: about a quarter of a second and 75 MB, and 20 MB more for each thread at work.
Guarantees: no network, and the same pair gives the same score whatever is scored beside it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol

from shared.scoring.scorer import check_count

MODEL_NAME = "ms-marco-MiniLM-L-12"


class PairScorer(Protocol):
    """Scores one pair, in the thread that calls."""

    def score(self, query: str, text: str) -> float:
        """Return 0 to 1, higher is better."""
        ...


def _load(window_tokens: int) -> PairScorer:
    from shared.scoring.cross_encoder import load_cross_encoder  # noqa: PLC0415  (ONNX Runtime alone takes 30 MB)

    return load_cross_encoder(window_tokens=window_tokens)


class BundledScorer:
    """Loads on first use. InvalidInput when the weights are missing or have changed."""

    def __init__(
        self, threads: int = 2, window_tokens: int = 256, load: Callable[[int], PairScorer] | None = None
    ) -> None:
        self._load = partial(load or _load, window_tokens)
        self._model: PairScorer | None = None
        self._loading = threading.Lock()
        self._pool = ThreadPoolExecutor(threads, "score-passage")

    @property
    def name(self) -> str:
        """Name of the model."""
        return MODEL_NAME

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, 0 to 1, in order. When cancelled, texts not yet begun are not scored."""
        check_count(texts)
        loop = asyncio.get_running_loop()
        return await asyncio.gather(*(loop.run_in_executor(self._pool, self._score, query, text) for text in texts))

    async def aclose(self) -> None:
        """Wait for the texts in work (at most one per thread), then release threads and model."""
        await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)
        self._model = None

    def _score(self, query: str, text: str) -> float:
        with self._loading:
            model = self._model = self._model or self._load()
        return model.score(query, text)
