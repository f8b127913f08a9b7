"""A provider that takes JSON and gives JSON, on loopback: real HTTP, one scripted answer per request."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.loopback import ReadRequest, loopback, read_request


@dataclass(frozen=True)
class Answer:
    """A status with a body, as it goes over the wire."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict[str, str])


class Silence:
    """No answer, until the client goes."""


class Break:
    """The connection ends before the answer."""


@dataclass
class JsonServer:
    """What a test sees of the provider. `answer` gives the body for a request that no script speaks for."""

    answer: Callable[[dict[str, Any]], object]
    url: str = ""
    script: deque[Answer | Silence | Break] = field(default_factory=deque["Answer | Silence | Break"])
    requests: list[ReadRequest] = field(default_factory=list[ReadRequest])
    """Path, headers and body of each."""
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client went away while it had no answer."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await read_request(reader)) is not None:
                self.requests.append(request)
                move = self.script.popleft() if self.script else Answer(body=_json(self.answer(request[2])))
                if isinstance(move, Silence):
                    await reader.read(1)
                    self.left.set()
                if not isinstance(move, Answer):
                    return
                headers = {"Content-Length": str(len(move.body)), **move.headers}
                lines = [f"HTTP/1.1 {move.status} Scripted", *(f"{name}: {value}" for name, value in headers.items())]
                writer.write("\r\n".join([*lines, "", ""]).encode() + move.body)
                await writer.drain()
        except ConnectionError:
            pass  # the client may go whenever it likes
        finally:
            writer.close()


@asynccontextmanager
async def json_server(answer: Callable[[dict[str, Any]], object]) -> AsyncGenerator[JsonServer]:
    """Run a server on a free port of 127.0.0.1."""
    provider = JsonServer(answer)
    async with loopback(provider.serve) as provider.url:
        yield provider


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
