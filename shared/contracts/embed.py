"""A text that waits for its dense vector (stream EMBED)."""

from __future__ import annotations

from typing import Literal

from shared.contracts.message import Message, Sha256


class ChunkText(Message):
    """One distinct text of a space; every live chunk with this text gets the vector."""

    type: Literal["citebus.chunk.text.v1"] = "citebus.chunk.text.v1"
    space: str
    text_hash: Sha256
    text: str
