"""What a search asks, watched: how often, with what, and what happens when it hangs or fails."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from services.retrieval.ports import LiveChunk
from services.retrieval.retriever import LexicalEncoder, VectorSearch
from shared.embedding.embedder import Embedder, Space, Vector, Vectors
from shared.embedding.hashing import HashingEmbedder
from shared.errors import RetryableError
from shared.vectors.bm25 import Bm25Encoder
from shared.vectors.store import Point, PointQuery, ScoredPoint, SparseVector
from tests.fakes.in_memory_live_pages import InMemoryLivePages, PageRow
from tests.fakes.in_memory_vector_store import InMemoryVectorStore


class WatchedSearch:
    """Passes searches on and records them; from call `hangs_from` on (counted from 0) they never end."""

    def __init__(self, inner: VectorSearch) -> None:
        self.calls: list[Sequence[PointQuery]] = []
        self.hangs_from: int | None = None
        self._inner = inner

    async def search(self, space: str, queries: Sequence[PointQuery]) -> list[list[ScoredPoint]]:
        self.calls.append(queries)
        if self.hangs_from is not None and len(self.calls) > self.hangs_from:
            await asyncio.Event().wait()
        return await self._inner.search(space, queries)


class WatchedEmbedder:
    """Embeds queries with another embedder and counts them; can be told to fail or to hang."""

    def __init__(self, inner: Embedder | None = None) -> None:
        self.queries: list[str] = []
        self.error: RetryableError | None = None
        self.hangs = False
        self._inner = inner or HashingEmbedder()

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    @property
    def space(self) -> Space:
        return Space(self.model, self.dimension, chunker_version=1)

    async def embed_query(self, text: str) -> Vector:
        self.queries.append(text)
        if self.hangs:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        return await self._inner.embed_query(text)

    async def embed_documents(self, texts: list[str]) -> Vectors:
        return await self._inner.embed_documents(texts)

    async def aclose(self) -> None:
        await self._inner.aclose()


class WatchedEncoder:
    """Passes queries on to the real encoder and records their languages."""

    def __init__(self, inner: LexicalEncoder | None = None) -> None:
        self.languages: list[tuple[str, ...]] = []
        self._inner = inner or Bm25Encoder()

    def query(self, text: str, languages: Sequence[str]) -> SparseVector:
        self.languages.append(tuple(languages))
        return self._inner.query(text, languages)

    def leading(self, text: str, languages: Sequence[str]) -> tuple[str, ...]:
        return self._inner.leading(text, languages)


def point_of(row: PageRow, chunk: LiveChunk, dense: Vector | None = None) -> Point:
    """Return the point that ingest writes for a chunk."""
    folders = chunk.path.split("/")[:-1]
    payload = {
        "vault_id": row.vault_id,
        "page_id": str(row.id),
        "path": row.path,
        "path_prefixes": ["/".join(folders[:end]) + "/" for end in range(1, len(folders) + 1)],
        "title": chunk.title,
        **row.fields,
    }
    return Point(chunk.chunk_id, Bm25Encoder().document(chunk.text, row.language), payload, dense)


async def store_of(
    pages: InMemoryLivePages, embedder: WatchedEmbedder, *, embedded: bool = True
) -> InMemoryVectorStore:
    """Return a store that holds every live chunk of the catalogue."""
    store = InMemoryVectorStore()
    await store.ensure_space(embedder.space)
    rows = [(row, chunk) for vault in pages.vaults.values() for row in vault for chunk in row.chunks()]
    vectors = await embedder.embed_documents([chunk.text for _, chunk in rows])
    points = [
        point_of(row, chunk, vector if embedded else None) for (row, chunk), vector in zip(rows, vectors, strict=True)
    ]
    await store.upsert(embedder.space.name, points)
    return store
