"""A TCP line to a server that a test can cut: every connection breaks, and a new one may be made at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass
class CuttableLine:
    """Forwards bytes both ways."""

    host: str
    port: int
    url: str = ""
    connections: int = 0
    _writers: set[asyncio.StreamWriter] = field(default_factory=set[asyncio.StreamWriter])

    def cut(self) -> None:
        """Break all connections."""
        for writer in self._writers:
            writer.transport.abort()

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection until it breaks."""
        self.connections += 1
        there_reader, there_writer = await asyncio.open_connection(self.host, self.port)
        self._writers |= {writer, there_writer}
        try:
            await asyncio.gather(_carry(reader, there_writer), _carry(there_reader, writer))
        finally:
            self._writers -= {writer, there_writer}


@asynccontextmanager
async def cuttable_line(url: str) -> AsyncGenerator[CuttableLine]:
    """Yield a line to the server at a URL; `line.url` leads over it."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    line = CuttableLine(parts.hostname, parts.port or 4222)
    server = await asyncio.start_server(line.forward, "127.0.0.1", 0)
    address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    user, at, _ = parts.netloc.rpartition("@")
    line.url = f"{parts.scheme}://{user}{at}{address}"
    try:
        yield line
    finally:
        server.close()
        line.cut()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.transport.abort()
