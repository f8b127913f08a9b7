"""What a scripted provider may do with a request."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal

End = Literal["stop", "length", "filtered", "tool"]


@dataclass(frozen=True)
class Answer:
    """A stream in the provider's format. By default it is whole, and cut into pieces amid characters on the wire."""

    pieces: tuple[str, ...] = ("Grüße ", "", "[1] 你好", " 🙂.")
    end: End = "stop"
    usage: tuple[int, int] | None = (11, 7)
    """Input and output tokens, in the last event."""
    model: str = "m-2025"
    chunk_bytes: int = 5
    error: tuple[str, str] | None = None
    """Kind and words of an event that says that the provider failed, after the pieces."""
    then: Literal["end", "cut", "hold"] = "end"
    """After the pieces: the rest, or the connection is cut, or nothing more comes until the client goes."""
    begin: asyncio.Event | None = None
    """The first byte waits for it."""

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True)
class Page:
    """A whole answer that is not a stream of the format."""

    status: int
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Silence:
    """Nothing at all, until the client goes."""


Move = Answer | Page | Silence
