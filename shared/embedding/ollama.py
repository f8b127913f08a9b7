"""The wire format of Ollama: `POST {base_url}/api/embed`. Source: Ollama API reference, Generate Embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

from shared.embedding.wire import parse_reply


class _Reply(BaseModel):
    embeddings: list[list[float]]


@dataclass(frozen=True, slots=True)
class OllamaWire:
    """`dimensions` asks a model that can for shorter vectors; None leaves the field out."""

    model: str
    dimensions: int | None = None

    @property
    def path(self) -> str:
        """Path under the base URL, which is the server's root."""
        return "/api/embed"

    def body(self, texts: Sequence[str]) -> dict[str, object]:
        """Return the request for these texts. The server is told to refuse what is too long: it would cut it off."""
        body: dict[str, object] = {"model": self.model, "input": list(texts), "truncate": False}
        return body if self.dimensions is None else {**body, "dimensions": self.dimensions}

    def rows(self, reply: bytes) -> list[npt.NDArray[np.float32]]:
        """Return the vectors, which come in the order of the texts."""
        return [np.asarray(row, dtype=np.float32) for row in parse_reply(_Reply, reply).embeddings]
