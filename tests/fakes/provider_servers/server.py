"""A provider on a free port of 127.0.0.1. A script holds one move per request; requests beyond it are answered well."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

from tests.fakes.loopback import loopback, read_request
from tests.fakes.provider_servers.answers import Answer, Move, Page, Silence
from tests.fakes.provider_servers.formats import FORMATS, Format, FormatName


@dataclass(frozen=True)
class SeenRequest:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class ProviderServer:
    """What a test sees of the provider."""

    def __init__(self, name: FormatName) -> None:
        self.format: Format = FORMATS[name]
        self.origin = ""
        self.script: deque[Move] = deque()
        self.requests: list[SeenRequest] = []
        self.arrived = asyncio.Event()
        """Set when a request has been read whole."""
        self.disconnected = asyncio.Event()
        """Set when a client went away before its answer was whole."""
        self.unconnected = asyncio.Event()
        """Set while no connection is open."""
        self._connections = 0

    def will(self, *moves: Move) -> None:
        """Append to the script."""
        self.script.extend(moves)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until it ends."""
        self._connections += 1
        self.unconnected.clear()
        try:
            while (request := await read_request(reader)) and await self._reply(SeenRequest(*request), reader, writer):
                pass
        except ConnectionError:
            self.disconnected.set()
        finally:
            self._connections -= 1
            if not self._connections:
                self.unconnected.set()
            writer.close()

    async def _reply(self, seen: SeenRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Make one move; False when the connection is over."""
        self.requests.append(seen)
        self.arrived.set()
        move = self.script.popleft() if self.script else Answer()
        if seen.path.partition("?")[0] != self.format.path:
            move = Page(404, self.format.refusal("not_found_error", "no such path"))
        if isinstance(move, Page):
            return await _send_page(move, writer)
        if isinstance(move, Silence):
            return await self._until_gone(reader)
        return await self._stream(move, reader, writer)

    async def _stream(self, answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if answer.begin is not None:
            await answer.begin.wait()
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {self.format.content_type}\r\n".encode())
        writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
        failure = [self.format.failure(*answer.error)] if answer.error else []
        await _send_chunks(b"".join(chain(self.format.pieces(answer), failure)), answer.chunk_bytes, writer)
        if answer.then == "cut":
            return False
        if answer.then == "hold":
            return await self._until_gone(reader)
        if not failure:
            await _send_chunks(b"".join(self.format.ending(answer)), answer.chunk_bytes, writer)
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _until_gone(self, reader: asyncio.StreamReader) -> bool:
        try:
            await reader.read(1)
        finally:
            self.disconnected.set()
        return False


@asynccontextmanager
async def provider_server(name: FormatName, script: Iterable[Move] = ()) -> AsyncGenerator[ProviderServer]:
    """Run a provider that speaks one of the formats."""
    provider = ProviderServer(name)
    provider.will(*script)
    async with loopback(provider.serve) as provider.origin:
        yield provider


async def _send_page(page: Page, writer: asyncio.StreamWriter) -> bool:
    headers = {"Content-Length": len(page.body), "Content-Type": "application/json"} | page.headers
    head = [f"HTTP/1.1 {page.status} Scripted", *[f"{name}: {value}" for name, value in headers.items()]]
    writer.write(("\r\n".join(head) + "\r\n\r\n").encode() + page.body)
    await writer.drain()
    return True


async def _send_chunks(data: bytes, size: int, writer: asyncio.StreamWriter) -> None:
    for start in range(0, len(data), size):
        part = data[start : start + size]
        writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        await writer.drain()
