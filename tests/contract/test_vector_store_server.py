"""What the server adapter makes of a server that refuses, breaks, or is not there."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from qdrant_client import AsyncQdrantClient
from qdrant_client.http.exceptions import UnexpectedResponse

from shared.embedding.embedder import Space
from shared.errors import CitebusError, InvalidInput, NotFound, RateLimited, TooLarge, Unavailable
from shared.vectors.server import QdrantServerStore
from tests.contract.vector_stores import DIMENSION, number, point, unit

SPACE = Space("refused", DIMENSION, 1)

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant")


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@asynccontextmanager
async def replying(status: str, headers: str = "") -> AsyncGenerator[str]:
    """Run a server that gives every request the same answer; yield its URL."""

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = '{"status": {"error": "because"}}'
        writer.write(f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(reply, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize("grpc", [False, True])
async def test_a_server_that_is_not_there_is_unavailable(closed_port: int, grpc: bool) -> None:
    client = AsyncQdrantClient(
        url=f"http://127.0.0.1:{closed_port}",
        grpc_port=closed_port,
        prefer_grpc=grpc,
        timeout=2,
        check_compatibility=False,
    )
    async with aclosing(QdrantServerStore(client)) as store:
        with pytest.raises(Unavailable):
            await store.ensure_space(SPACE)
        with pytest.raises(Unavailable):
            await store.count(SPACE.name)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        ("400 Bad Request", InvalidInput),
        ("401 Unauthorized", InvalidInput),
        ("404 Not Found", NotFound),
        ("413 Payload Too Large", TooLarge),
        ("500 Internal Server Error", Unavailable),
        ("503 Service Unavailable", Unavailable),
    ],
)
async def test_a_refusal_is_told_as_what_it_is(status: str, error: type[CitebusError]) -> None:
    async with replying(status) as url, aclosing(QdrantServerStore.connect(url)) as store:
        with pytest.raises(error, match="because") as raised:
            await store.count(SPACE.name)
    assert type(raised.value) is error
    assert raised.value.__cause__ is not None


async def test_a_server_that_asks_to_wait_says_how_long() -> None:
    async with (
        replying("429 Too Many Requests", "Retry-After: 7\r\n") as url,
        aclosing(QdrantServerStore.connect(url)) as store,
    ):
        with pytest.raises(RateLimited) as raised:
            await store.count(SPACE.name)
    assert raised.value.retry_after_s == 7


class VanishingClient(AsyncQdrantClient):
    """Another process deletes a point right after each look whether it exists, `times` times."""

    def __init__(self, times: int) -> None:
        super().__init__(":memory:")
        self.times = times

    async def retrieve(self, collection_name: str, ids: Sequence[Any], *args: Any, **options: Any) -> Any:
        records = await super().retrieve(collection_name, ids, *args, **options)
        if self.times > 0 and records:
            self.times -= 1
            await super().delete(collection_name, [records[0].id])
        return records

    async def batch_update_points(self, collection_name: str, *args: Any, **options: Any) -> Any:
        try:
            return await super().batch_update_points(collection_name, *args, **options)
        except KeyError as error:  # a server says so
            raise UnexpectedResponse(404, "Not Found", b"No point with that id", headers=None) from error  # pyright: ignore[reportArgumentType]


async def test_a_point_that_vanishes_before_its_update_is_left_out() -> None:
    async with aclosing(QdrantServerStore(VanishingClient(times=2))) as store:
        await store.ensure_space(SPACE)
        await store.upsert(SPACE.name, [point(id) for id in range(4)])
        await store.set_dense(SPACE.name, {number(id): unit(1) for id in range(4)})
        assert [id.int async for id in store.ids(SPACE.name)] == [2, 3]
        await store.rewrite(SPACE.name, [point(id, kind="new") for id in range(4)])
        assert [id.int async for id in store.ids(SPACE.name)] == [2, 3]


async def test_points_that_keep_vanishing_are_given_up() -> None:
    async with aclosing(QdrantServerStore(VanishingClient(times=100))) as store:
        await store.ensure_space(SPACE)
        await store.upsert(SPACE.name, [point(id) for id in range(20)])
        with pytest.raises(Unavailable, match="vanishing"):
            await store.set_dense(SPACE.name, {number(id): unit(1) for id in range(20)})
