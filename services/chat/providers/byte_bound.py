"""How many bytes a provider may send for one answer: SDKs collect a line, or the body of an error, without a limit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import ClassVar, Protocol

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""Some 400 bytes for each token that is thought or said, so this is more than any model answers."""


class ByteStream(Protocol):
    """The body of a response, as httpx and httpx2 have it."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None:
        """Release the connection."""
        ...


class BoundedStream:
    """A body that breaks off beyond the bound; mixed into a client's own class of streams, with its own error."""

    error: ClassVar[type[Exception]]

    def __init__(self, body: ByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        received = 0
        async for chunk in self._body:
            received += len(chunk)
            if received > MAX_ANSWER_BYTES:
                raise self.error("the answer has too many bytes")
            yield chunk

    async def aclose(self) -> None:
        """Release the connection."""
        await self._body.aclose()
