"""What every scripted provider on loopback needs: a real server on a free port, and requests read whole."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

ReadRequest = tuple[str, dict[str, str], dict[str, Any]]
"""Path, headers by lower-case name, JSON body."""


@asynccontextmanager
async def loopback(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncGenerator[str]:
    """Serve connections on 127.0.0.1 and yield the origin; connections that are still open end with the block."""
    connections: set[asyncio.Future[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(asyncio.ensure_future(serve(reader, writer)))

    server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=2**24)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


async def read_request(reader: asyncio.StreamReader) -> ReadRequest | None:
    """Return the next request of a connection; None when the client has gone."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    body = json.loads(await reader.readexactly(int(headers.get("content-length", "0"))) or b"{}")
    return head[0].split(" ")[1], headers, body
