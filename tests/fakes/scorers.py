"""Scorers that tell how they judge."""

from __future__ import annotations

from collections.abc import Sequence

from shared.errors import CitebusError


class MarkedWordScorer:
    """Finds a text that holds the marked word an answer, and any other none."""

    def __init__(self, marked: str) -> None:
        self.marked = marked
        self.read: list[Sequence[str]] = []
        """The texts of each call."""

    @property
    def name(self) -> str:
        """See PassageScorer.name."""
        return "marked-word"

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """See PassageScorer.scores."""
        del query
        self.read.append(texts)
        return [0.999 if self.marked in text else 0.0001 for text in texts]

    async def aclose(self) -> None:
        """See PassageScorer.aclose."""


class FailingScorer:
    """Raises always the same."""

    def __init__(self, error: CitebusError) -> None:
        self.error = error

    @property
    def name(self) -> str:
        """See PassageScorer.name."""
        return "failing"

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """See PassageScorer.scores."""
        raise self.error

    async def aclose(self) -> None:
        """See PassageScorer.aclose."""
