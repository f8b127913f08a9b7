"""The HTTP client under the SDKs of OpenAI and Anthropic: bounded in time and bytes, without redirects.

A redirect would carry the key to another server.
"""

from __future__ import annotations

from typing import cast

import httpx2

from services.chat.providers.byte_bound import BoundedStream, ByteStream
from services.chat.providers.spec import Limits


def timeouts(limits: Limits) -> httpx2.Timeout:
    """Return the timeouts of single steps; `StreamedProvider` keeps those of an answer."""
    return httpx2.Timeout(limits.first_byte_timeout_s, connect=limits.connect_timeout_s)


def bounded_client(limits: Limits) -> httpx2.AsyncClient:
    """Return a client; the SDK that gets it closes it."""
    return httpx2.AsyncClient(timeout=timeouts(limits), follow_redirects=False, event_hooks={"response": [_bound]})


class _Stream(BoundedStream, httpx2.AsyncByteStream):
    error = httpx2.ReadError


async def _bound(response: httpx2.Response) -> None:
    response.stream = _Stream(cast("ByteStream", response.stream))
