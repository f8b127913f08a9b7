"""Embedding providers on loopback: real HTTP, the wire formats of OpenAI and Ollama, and faults by script.

Vectors come from feature hashing of each text, of length 3, so that a client that does not normalise, mixes texts up or
leaves out the end of one is seen. A script holds one entry per request, in order; requests beyond it are answered well.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from shared.embedding.hashing import HashingEmbedder
from tests.fakes.loopback import loopback, read_request

WireName = Literal["openai", "ollama"]
Rows = list[list[float]]


@dataclass(frozen=True)
class Answer:
    """A whole answer that is not the one asked for."""

    status: int
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class CutOff:
    """The right answer, of which only the first bytes arrive before the connection is closed."""

    after_bytes: int = 0


@dataclass(frozen=True)
class Hold:
    """The right answer, once `release` is set; the first byte waits until then."""

    release: asyncio.Event


@dataclass(frozen=True)
class Alter:
    """The right answer with other vectors."""

    change: Callable[[Rows], Rows]


@dataclass(frozen=True)
class Trickle:
    """The right answer, one byte at a time."""

    interval_s: float


Fault = Answer | CutOff | Hold | Alter | Trickle


@dataclass(frozen=True)
class SeenRequest:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        return self.body["input"]


class EmbeddingServer:
    """What a test sees of the provider."""

    def __init__(self, wire: WireName, dimension: int) -> None:
        self.wire: WireName = wire
        self.url = ""
        self.script: deque[Fault] = deque()
        self.refuse_texts_over_chars: int | None = None
        self.requests: list[SeenRequest] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.arrivals = asyncio.Semaphore(0)
        """Released once per request that has been read whole."""
        self.disconnected = asyncio.Event()
        """Set when a client went away while its answer was held."""
        self._hashing = HashingEmbedder(dimension)

    def will(self, *faults: Fault) -> None:
        """Append to the script."""
        self.script.extend(faults)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until it ends."""
        try:
            while request := await read_request(reader):
                self.in_flight += 1
                self.most_in_flight = max(self.most_in_flight, self.in_flight)
                try:
                    if not await self._reply(SeenRequest(*request), reader, writer):
                        break
                finally:
                    self.in_flight -= 1
        except ConnectionError:
            pass  # the client may go whenever it likes
        finally:
            writer.close()

    async def _reply(self, seen: SeenRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Write one answer; False when the connection is over."""
        self.requests.append(seen)
        self.arrivals.release()
        fault = self.script.popleft() if self.script else None
        if isinstance(fault, Hold) and not await self._released(fault, reader):
            return False
        answer = fault if isinstance(fault, Answer) else await self._answer(seen, fault)
        await _write(answer, fault, writer)
        return not isinstance(fault, CutOff)

    async def _released(self, hold: Hold, reader: asyncio.StreamReader) -> bool:
        gone = asyncio.ensure_future(reader.read(1))
        release = asyncio.ensure_future(hold.release.wait())
        await asyncio.wait({gone, release}, return_when=asyncio.FIRST_COMPLETED)
        if not release.done():
            release.cancel()
            self.disconnected.set()
            return False
        gone.cancel()
        await asyncio.wait({gone})
        return True

    async def _answer(self, seen: SeenRequest, fault: Fault | None) -> Answer:
        if seen.path != ("/v1/embeddings" if self.wire == "openai" else "/api/embed"):
            return Answer(404, b'{"error": "no such path"}')
        if not all(text.strip() for text in seen.texts):
            return Answer(400, b'{"error": "input cannot be an empty string"}')
        limit = self.refuse_texts_over_chars
        cuts = self.wire == "ollama" and seen.body.get("truncate", True)  # as Ollama does, unless told not to
        if limit is not None and not cuts and any(len(text) > limit for text in seen.texts):
            return Answer(400, b'{"error": "the input length exceeds the context length"}')
        texts = [text[:limit] for text in seen.texts]
        rows: Rows = (await self._hashing.embed_documents(texts) * 3).tolist()
        if isinstance(fault, Alter):
            rows = fault.change(rows)
        return Answer(200, json.dumps(self._payload(rows, seen.body)).encode())

    def _payload(self, rows: Rows, body: dict[str, Any]) -> dict[str, Any]:
        if self.wire == "ollama":
            return {"model": body["model"], "embeddings": rows}
        in_base64 = body.get("encoding_format") == "base64"
        items = [
            {"object": "embedding", "index": index, "embedding": _base64(row) if in_base64 else row}
            for index, row in enumerate(rows)
        ]
        return {"object": "list", "data": items[::-1], "model": body["model"]}  # the format promises no order


@asynccontextmanager
async def embedding_server(
    wire: WireName, dimension: int = 64, script: Iterable[Fault] = ()
) -> AsyncGenerator[EmbeddingServer]:
    """Run a server on a free port of 127.0.0.1."""
    provider = EmbeddingServer(wire, dimension)
    provider.will(*script)
    async with loopback(provider.serve) as origin:
        provider.url = origin + ("/v1" if wire == "openai" else "")
        yield provider


async def _write(answer: Answer, fault: Fault | None, writer: asyncio.StreamWriter) -> None:
    head = [f"HTTP/1.1 {answer.status} Scripted", f"Content-Length: {len(answer.body)}"]
    head += [f"{name}: {value}" for name, value in answer.headers.items()]
    data = ("\r\n".join(head) + "\r\n\r\n").encode() + answer.body
    if isinstance(fault, CutOff):
        data = data[: fault.after_bytes]
    step = 1 if isinstance(fault, Trickle) else max(1, len(data))
    for start in range(0, len(data), step):
        writer.write(data[start : start + step])
        await writer.drain()
        if isinstance(fault, Trickle):
            await asyncio.sleep(fault.interval_s)


def _base64(row: list[float]) -> str:
    return base64.b64encode(np.asarray(row, dtype="<f4").tobytes()).decode()
