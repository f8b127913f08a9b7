"""The wire format of OpenAI's embeddings, spoken by vLLM, TEI, llama.cpp, LiteLLM, LocalAI, Mistral and many more.

Source: OpenAI API reference, `POST {base_url}/embeddings`. Vectors are put in the order of `index`, which the format
does not promise to be that of the list; floats as JSON numbers or as base64 of little-endian float32, whichever comes.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

from shared.embedding.wire import parse_reply
from shared.errors import InvalidInput


class _Item(BaseModel):
    index: int
    embedding: list[float] | str


class _Reply(BaseModel):
    data: list[_Item]


@dataclass(frozen=True, slots=True)
class OpenAICompatibleWire:
    """`dimensions` asks a model that can for shorter vectors; None leaves the field out, as many servers refuse it."""

    model: str
    dimensions: int | None = None
    encoding: Literal["float", "base64"] = "float"

    @property
    def path(self) -> str:
        """Path under the base URL, which ends in `/v1` for most servers."""
        return "/embeddings"

    def body(self, texts: Sequence[str]) -> dict[str, object]:
        """Return the request for these texts."""
        body: dict[str, object] = {"model": self.model, "input": list(texts), "encoding_format": self.encoding}
        return body if self.dimensions is None else {**body, "dimensions": self.dimensions}

    def rows(self, reply: bytes) -> list[npt.NDArray[np.float32]]:
        """Return the vectors by ascending `index`; each index from 0 must be there once."""
        items = sorted(parse_reply(_Reply, reply).data, key=lambda item: item.index)
        if [item.index for item in items] != list(range(len(items))):
            raise InvalidInput("the embedding provider's reply numbers its vectors wrongly: `index` skips or repeats")
        return [_floats(item.embedding) for item in items]


def _floats(embedding: list[float] | str) -> npt.NDArray[np.float32]:
    if not isinstance(embedding, str):
        return np.asarray(embedding, dtype=np.float32)
    try:
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float32)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput("the embedding provider's reply holds a vector that is not base64 of float32") from error
