"""The port of every embedder, and the embedding space that its vectors live in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
"""Shape (n, dimension), float32, each row of length 1."""

Vector = npt.NDArray[np.float32]
"""Shape (dimension,), float32, of length 1."""


@dataclass(frozen=True, slots=True)
class Space:
    """Vectors of two spaces are never compared and never mixed (distance: cosine in all of them)."""

    model: str
    dimension: int
    chunker_version: int

    @property
    def name(self) -> str:
        """The space as a subject token and collection name: `bge-small-en-v1-5-384-c1`."""
        model = re.sub(r"[^a-z0-9]+", "-", self.model.lower()).strip("-")
        return f"{model[:80]}-{self.dimension}-c{self.chunker_version}"


class Embedder(Protocol):
    """Turns texts into vectors. Safe to call concurrently from one event loop."""

    @property
    def model(self) -> str:
        """Name of the model, part of the space's name."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    async def embed_documents(self, texts: list[str]) -> Vectors:
        """Return one unit vector per text, in order; an empty list gives shape (0, dimension).

        A text longer than the model's window is pooled over windows, so that all of it counts. The same text gives
        the same vector whatever its batch mates. Raises Unavailable or RateLimited (retry), InvalidInput (the
        provider refuses these texts or the settings are wrong).
        """
        ...

    async def embed_query(self, text: str) -> Vector:
        """Return the unit vector that is compared with documents. Raises as embed_documents."""
        ...

    async def aclose(self) -> None:
        """Release sessions, clients and threads; the embedder is not used again."""
        ...
