"""The stores that the vector store's contract is proved on, and points to prove it with."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, contextmanager
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
from qdrant_client import AsyncQdrantClient

from shared.embedding.embedder import Space, Vector
from shared.vectors.edge import EdgeOptions, QdrantEdgeStore
from shared.vectors.edge_process import EdgeProcessStore
from shared.vectors.filter import FieldIn
from shared.vectors.server import QdrantServerStore
from shared.vectors.store import Point, PointQuery, SparseVector, VectorStore
from tests.fakes.in_memory_vector_store import InMemoryVectorStore

DIMENSION = 8
SERVER_URL = os.environ.get("CITEBUS_TEST_QDRANT_URL")

OpenStore = Callable[[Path], AbstractAsyncContextManager[VectorStore]]


@asynccontextmanager
async def _fake(_: Path) -> AsyncGenerator[VectorStore]:
    yield InMemoryVectorStore()


@asynccontextmanager
async def _edge(folder: Path) -> AsyncGenerator[VectorStore]:
    async with aclosing(await QdrantEdgeStore.open(folder, EdgeOptions(min_free_bytes=0))) as store:
        yield store


@asynccontextmanager
async def _process(folder: Path) -> AsyncGenerator[VectorStore]:
    async with aclosing(await EdgeProcessStore.open(folder, EdgeOptions(min_free_bytes=0))) as store:
        yield store


@asynccontextmanager
async def _local(_: Path) -> AsyncGenerator[VectorStore]:
    async with aclosing(QdrantServerStore(AsyncQdrantClient(":memory:"))) as store:
        yield store


@asynccontextmanager
async def _server(_: Path) -> AsyncGenerator[VectorStore]:
    assert SERVER_URL is not None
    async with aclosing(QdrantServerStore.connect(SERVER_URL)) as store:
        yield store


STORES: dict[str, OpenStore] = {"fake": _fake, "edge": _edge, "process": _process, "local": _local}
if SERVER_URL:
    STORES["server"] = _server


@contextmanager
def fast_folder() -> Generator[Path]:
    """Yield an empty folder in memory where the system has one: a shard is made with dozens of writes to the disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="citebus-", dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def new_space(dimension: int = DIMENSION) -> Space:
    """Return a space that no other test uses."""
    return Space(f"test-{uuid4().hex}", dimension, 1)


def number(value: int) -> UUID:
    """Return the id that stands for a number; ids sort as their numbers."""
    return UUID(int=value)


def unit(*components: float) -> Vector:
    """Return a unit vector in the direction of the components, the rest 0."""
    vector = np.zeros(DIMENSION, dtype=np.float32)
    vector[: len(components)] = components
    return vector / np.float32(np.linalg.norm(vector))


def words(*terms: int) -> SparseVector:
    """Return a sparse vector with weight 1 for each term."""
    return SparseVector(terms, (1.0,) * len(terms))


def point(id: int, terms: Iterable[int] = (1,), dense: Vector | None = None, **payload: object) -> Point:
    """Return a point of the vault `v`."""
    return Point(number(id), words(*terms), {"vault_id": "v", **payload}, dense)


def where(field: str, *values: str | int | bool) -> FieldIn:
    """Return a filter by one field."""
    return FieldIn(field, values)


async def found(store: VectorStore, space: Space, query: PointQuery) -> list[int]:
    """Search and return the hits as numbers, in their order."""
    [hits] = await store.search(space.name, [query])
    return [hit.id.int for hit in hits]


async def stored(store: VectorStore, space: Space, vault_id: str | None = None) -> list[int]:
    """Return all ids as numbers, in their order."""
    return [id.int async for id in store.ids(space.name, vault_id)]
