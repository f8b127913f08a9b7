"""The port of models that read a query and a text together and say how well the text answers it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from shared.errors import TooLarge

MAX_TEXTS = 256
"""Of one call: a page has fewer sentences, and no ranking is worth reading deeper."""


class PassageScorer(Protocol):
    """Scores texts, passages or sentences, against a query. Safe to call concurrently from one event loop."""

    @property
    def name(self) -> str:
        """Name of the model, for people."""
        ...

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, in order: finite, higher is better, comparable within one query only.

        The bundled model and most providers give 0 to 1. What is beyond the model's window is not read. No text, no
        call. Raises TooLarge beyond MAX_TEXTS, Unavailable or RateLimited (try later), InvalidInput (weights are
        missing or changed, or the provider refuses).
        """
        ...

    async def aclose(self) -> None:
        """Release model, threads and clients; the scorer is not used again."""
        ...


def check_count(texts: Sequence[str]) -> None:
    """Raise TooLarge for more texts than one call may hold."""
    if len(texts) > MAX_TEXTS:
        raise TooLarge(f"{len(texts)} texts are more than the {MAX_TEXTS} that are scored at once.")
