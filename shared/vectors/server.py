"""The vector store on a Qdrant server or cluster; a space's collection bears its name.

Every write waits until it is applied, so reads see it. All fields that filters may name are indexed before the first
point is written, as a server in strict mode demands. Any number of processes may write at once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar
from uuid import UUID

from qdrant_client import AsyncQdrantClient, models

from shared.embedding.embedder import Space, Vector
from shared.errors import NotFound, SpaceMismatch, Unavailable
from shared.vectors.filter import FieldIn
from shared.vectors.payload import stored_payload
from shared.vectors.ranges import RANGE_KEYS
from shared.vectors.ranking import Ranking
from shared.vectors.server_errors import ServerErrors
from shared.vectors.server_filter import to_filter
from shared.vectors.server_points import to_dense, to_request, to_rewrite, to_vector_update, to_vectors
from shared.vectors.store import DENSE, KEYWORD_FIELDS, SPARSE, Point, PointQuery, ScoredPoint

_BATCH = 128
"""Points per request: about 2 MB with their text, far below the server's limit of 32 MB."""

_PAGE = 1_000
"""Ids per request."""

_TRIES = 5
"""A point may be deleted by another process between the look whether it exists and its update; then look again."""

T = TypeVar("T")

_Operations = Callable[[list[UUID]], list[models.UpdateOperation]]
"""What to do for these points."""


class QdrantServerStore:
    """Takes over the client, and closes it."""

    def __init__(self, client: AsyncQdrantClient) -> None:
        self._client = client
        self._dimensions: dict[str, int] = {}

    @classmethod
    def connect(
        cls, url: str, *, api_key: str | None = None, prefer_grpc: bool = False, timeout_s: int = 30
    ) -> QdrantServerStore:
        """Return a store on the server at `url` (http or https); nothing is sent yet."""
        return cls(
            AsyncQdrantClient(
                url=url, api_key=api_key, prefer_grpc=prefer_grpc, timeout=timeout_s, check_compatibility=False
            )
        )

    async def ensure_space(self, space: Space) -> None:
        """As VectorStore.ensure_space; two processes may do it at once."""
        with ServerErrors():
            if not await self._client.collection_exists(space.name):
                await self._create(space)
        self._dimensions.pop(space.name, None)
        dimension = await self._dimension(space.name)
        if dimension != space.dimension:
            raise SpaceMismatch(
                f"The collection {space.name} holds vectors of {dimension} numbers, the settings say "
                f"{space.dimension}. Restore the model's settings, or name the new model differently."
            )
        await self._index(space.name)

    async def upsert(self, space: str, points: Sequence[Point]) -> None:
        """As VectorStore.upsert."""
        dimension = await self._dimension(space)
        for batch in _batches(points, _BATCH):
            structs = [
                models.PointStruct(
                    id=str(point.id), vector=to_vectors(point, dimension), payload=stored_payload(point.payload)
                )
                for point in batch
            ]
            with ServerErrors():
                await self._client.upsert(space, structs, wait=True)

    async def rewrite(self, space: str, points: Sequence[Point]) -> None:
        """As VectorStore.rewrite. A dense vector that another process sets meanwhile is kept, too."""
        dimension = await self._dimension(space)
        for batch in _batches(points, _BATCH):
            by_id = {point.id: point for point in batch}
            await self._update_existing(
                space, list(by_id), lambda ids, by_id=by_id: to_rewrite([by_id[id] for id in ids], dimension)
            )

    async def set_dense(self, space: str, vectors: Mapping[UUID, Vector]) -> None:
        """As VectorStore.set_dense."""
        dimension = await self._dimension(space)
        for batch in _batches(vectors, _BATCH):
            dense = {id: {DENSE: to_dense(vectors[id], dimension)} for id in batch}
            await self._update_existing(
                space, batch, lambda ids, dense=dense: [to_vector_update({id: dense[id] for id in ids})]
            )

    async def delete(self, space: str, ids: Sequence[UUID]) -> None:
        """As VectorStore.delete."""
        await self._dimension(space)
        for batch in _batches(ids, _PAGE):
            with ServerErrors():
                await self._client.delete(space, models.PointIdsList(points=[str(id) for id in batch]), wait=True)

    async def search(self, space: str, queries: Sequence[PointQuery]) -> list[list[ScoredPoint]]:
        """As VectorStore.search; another round trip only for a tie at the cut, or when the graph came home short."""
        dimension = await self._dimension(space)
        ranking = Ranking(queries)
        while ranking.open:
            requests = [to_request(ask, dimension) for ask in ranking.open]
            with ServerErrors():
                answers = await self._client.query_batch_points(space, requests)
            ranking.take([[ScoredPoint(UUID(str(hit.id)), hit.score) for hit in answer.points] for answer in answers])
        return ranking.hits

    async def ids(self, space: str, vault_id: str | None = None) -> AsyncIterator[UUID]:
        """As VectorStore.ids."""
        await self._dimension(space)
        start: Any = None
        while True:
            with ServerErrors():
                records, start = await self._client.scroll(
                    space, _of_vault(vault_id), limit=_PAGE, offset=start, with_payload=False, with_vectors=False
                )
            for record in records:
                yield UUID(str(record.id))
            if start is None:
                return

    async def count(self, space: str, vault_id: str | None = None) -> int:
        """As VectorStore.count."""
        await self._dimension(space)
        with ServerErrors():
            return (await self._client.count(space, _of_vault(vault_id), exact=True)).count

    async def drop_space(self, space: str) -> None:
        """As VectorStore.drop_space."""
        self._dimensions.pop(space, None)
        with ServerErrors():
            await self._client.delete_collection(space)

    async def aclose(self) -> None:
        """Close the client's connections."""
        await self._client.close()

    async def _create(self, space: Space) -> None:
        created = await self._client.create_collection(
            space.name,
            vectors_config={DENSE: models.VectorParams(size=space.dimension, distance=models.Distance.COSINE)},
            sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            on_disk_payload=True,
        )
        if not created:
            raise Unavailable(f"Qdrant did not create the collection {space.name}; try again.")

    async def _index(self, space: str) -> None:
        with ServerErrors():
            indexed = (await self._client.get_collection(space)).payload_schema
            for field in KEYWORD_FIELDS:
                if field not in indexed:
                    schema = models.KeywordIndexParams(
                        type=models.KeywordIndexType.KEYWORD, is_tenant=True if field == "vault_id" else None
                    )
                    await self._client.create_payload_index(space, field, schema, wait=True)
            for key in RANGE_KEYS:
                if key not in indexed:
                    await self._client.create_payload_index(space, key, models.PayloadSchemaType.FLOAT, wait=True)

    async def _dimension(self, space: str) -> int:
        """Return the length of the space's dense vectors; asked once. Raises NotFound."""
        if space not in self._dimensions:
            with ServerErrors():
                vectors = (await self._client.get_collection(space)).config.params.vectors
            if not isinstance(vectors, dict) or DENSE not in vectors:
                raise SpaceMismatch(f"The collection {space} was not made by citebus: it has no vector {DENSE!r}.")
            self._dimensions[space] = vectors[DENSE].size
        return self._dimensions[space]

    async def _update_existing(self, space: str, ids: Sequence[UUID], operations: _Operations) -> None:
        """Apply the operations for those ids that exist."""
        for _ in range(_TRIES):
            with ServerErrors():
                records = await self._client.retrieve(space, [str(id) for id in ids], with_payload=False)
            there = [UUID(str(record.id)) for record in records]
            if not there:
                return
            try:
                with ServerErrors():
                    await self._client.batch_update_points(space, operations(there), wait=True)
            except NotFound:
                continue  # of a point, or of the collection: then the next look says so
            return
        raise Unavailable(f"Points of {space} kept vanishing while they were updated; try again.")


def _of_vault(vault_id: str | None) -> models.Filter | None:
    return None if vault_id is None else to_filter(FieldIn("vault_id", (vault_id,)))


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
