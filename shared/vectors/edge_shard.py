"""One Qdrant Edge shard: the port's words in the engine's, synchronous. Reads and writes the shard's folder.

The engine holds the interpreter lock for the whole of every call (measured with qdrant-edge-py 0.9: queries, updates,
flush, load), so a thread would block the event loop all the same and wait for the lock on top (beside a busy loop a
search took 4 ms instead of 0.5, at worst seconds); callers call directly and keep batches small.

Updates are in a write-ahead log before they are applied, and a shard that is loaded replays it: after `kill -9`
nothing that returned is lost. The log is a mapped file that the system writes out on its own, within half a minute
with Linux's defaults; a flush does it now, and shortens the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, cast
from uuid import UUID

import qdrant_edge as engine

from shared.embedding.embedder import Vector
from shared.errors import InvalidInput, SpaceMismatch, Unavailable
from shared.vectors.edge_filter import edge_filter
from shared.vectors.filter import PointFilter
from shared.vectors.payload import stored_payload
from shared.vectors.ranges import RANGE_KEYS
from shared.vectors.ranking import Ask
from shared.vectors.store import DENSE, KEYWORD_FIELDS, SPARSE, Point, ScoredPoint, SparseVector

_FULL = ("No space left", "os error 28", "Disk quota", "os error 122")
"""How the engine's messages tell a full disk: ENOSPC and EDQUOT."""


class _EngineErrors:
    """Turns what the engine raises into errors of citebus.

    It raises the class `Exception` itself for everything of its own, and TypeError or ValueError for values that it
    can't read; anything else is not its error and passes.
    """

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is Exception:
            full = any(sign in str(error) for sign in _FULL)
            what = "The disk of the vector store is full; free some space." if full else f"Qdrant Edge failed: {error}"
            raise Unavailable(what) from error
        if kind is TypeError or (kind is not None and issubclass(kind, ValueError)):
            raise InvalidInput(f"A point or query holds a value that Qdrant can't keep: {error}") from error


_ENGINE_ERRORS = _EngineErrors()


def _config(dimension: int) -> engine.EdgeConfig:
    return engine.EdgeConfig(
        vectors={DENSE: engine.EdgeVectorParams(dimension, engine.Distance.Cosine)},
        sparse_vectors={
            SPARSE: engine.EdgeSparseVectorParams(modifier=engine.Modifier.Idf, memory=engine.Memory.Cached)
        },  # mapped once compacted: a tenth less memory, and no slower than pinned
        payload_memory=engine.Memory.Cold,
        hnsw_config=engine.HnswIndexConfig(
            m=16, ef_construct=100, full_scan_threshold=1_000, max_indexing_threads=2
        ),  # the engine's defaults but for the threads: it takes 8 on any machine
        optimizers=engine.EdgeOptimizersConfig(
            default_segment_number=1,  # one graph is faster to search than several
            indexing_threshold=1,  # KB: when asked to optimise, index whatever there is
        ),
    )


def _index_ranges(shard: engine.EdgeShard) -> None:
    """Index what ranges compare, also in a shard of a version that knew no ranges."""
    for key in set(RANGE_KEYS) - set(shard.info().payload_schema):
        shard.update(engine.UpdateOperation.create_field_index(key, engine.PayloadSchemaType.Float))


class EdgeShard:
    """A shard that is open in this process. Every method raises Unavailable when the engine fails."""

    def __init__(self, shard: engine.EdgeShard, path: Path, dimension: int) -> None:
        self._shard = shard
        self.path = path
        self.dimension = dimension

    @classmethod
    def create(cls, path: Path, dimension: int) -> EdgeShard:
        """Create an empty shard with its payload indexes in a folder that does not exist yet."""
        path.mkdir(parents=True)
        with _ENGINE_ERRORS:
            shard = engine.EdgeShard.create(str(path), _config(dimension))
            for field in KEYWORD_FIELDS:
                shard.update(engine.UpdateOperation.create_field_index(field, engine.PayloadSchemaType.Keyword))
            _index_ranges(shard)
            shard.flush()
        return cls(shard, path, dimension)

    @classmethod
    def load(cls, path: Path, dimension: int) -> EdgeShard:
        """Open a shard and replay what its log holds. Raises Unavailable when it can't be read."""
        with _ENGINE_ERRORS:
            shard = engine.EdgeShard.load(str(path), _config(dimension))
            _index_ranges(shard)
            return cls(shard, path, dimension)

    def upsert(self, points: Sequence[Point]) -> list[UUID]:
        """Write whole points; return their ids."""
        with _ENGINE_ERRORS:
            self._upsert([self._written(point, point.dense) for point in points])
        return [point.id for point in points]

    def rewrite(self, points: Sequence[Point]) -> list[UUID]:
        """Replace payload and sparse vector of those points that exist, keep their dense vector; return their ids."""
        with _ENGINE_ERRORS:
            kept = {
                record.id: cast("dict[str, Any]", record.vector or {}).get(DENSE)
                for record in self._shard.retrieve([point.id for point in points], False, [DENSE])
            }
            there = [point for point in points if point.id in kept]
            self._upsert(
                [self._written(point, kept[point.id] if point.dense is None else point.dense) for point in there]
            )
        return [point.id for point in there]

    def set_dense(self, vectors: Sequence[tuple[UUID, Vector]]) -> list[UUID]:
        """Set the dense vector of those points that exist; return their ids."""
        given = dict(vectors)
        with _ENGINE_ERRORS:
            there = [cast("UUID", record.id) for record in self._shard.retrieve(list(given), False, False)]
            changes = [engine.PointVectors(id, {DENSE: self._dense(given[id])}) for id in there]
            if changes:
                self._shard.update(engine.UpdateOperation.update_vectors(changes))
        return there

    def delete(self, ids: Sequence[UUID]) -> list[UUID]:
        """Delete points; return the ids, whether they existed or not."""
        with _ENGINE_ERRORS:
            self._shard.update(engine.UpdateOperation.delete_points(list(ids)))
        return list(ids)

    def copy_points(self, source: EdgeShard, ids: Sequence[UUID]) -> None:
        """Make these points what they are in another shard: the same content, or gone."""
        with _ENGINE_ERRORS:
            records = source._shard.retrieve(list(ids), True, True)
            self._upsert([engine.Point(record.id, record.vector or {}, record.payload) for record in records])
            found = {record.id for record in records}
        gone = [id for id in ids if id not in found]
        if gone:
            self.delete(gone)

    def search(self, asks: Sequence[Ask]) -> list[list[ScoredPoint]]:
        """Return the hits of each question as the engine ranks them."""
        requests = [self._request(ask) for ask in asks]
        with _ENGINE_ERRORS:
            answers = self._shard.query_batch(engine.QueryBatchRequest(requests))
        return [[ScoredPoint(cast("UUID", hit.id), hit.score) for hit in answer] for answer in answers]

    def ids(self, where: PointFilter, start: UUID | None, limit: int) -> tuple[list[UUID], UUID | None]:
        """Return one page of ids in ascending order from `start` on, and where the next page starts."""
        request = engine.ScrollRequest(
            offset=start, limit=limit, filter=edge_filter(where), with_payload=False, with_vector=False
        )
        with _ENGINE_ERRORS:
            records, following = self._shard.scroll(request)
        return [cast("UUID", record.id) for record in records], cast("UUID | None", following)

    def count(self, where: PointFilter) -> int:
        """Return the exact number of points that match."""
        with _ENGINE_ERRORS:
            return self._shard.count(engine.CountRequest(exact=True, filter=edge_filter(where)))

    def sizes(self) -> tuple[int, int]:
        """Return how many points there are, and how many vectors in graphs and sparse indexes, deleted ones included.

        The segment that takes writes has no graph, but its words are always indexed: what comes on top of the second
        number after a compaction is the number of points written since.
        """
        with _ENGINE_ERRORS:
            info = self._shard.info()
        return info.points_count, info.indexed_vectors_count

    def dense_vectors(self) -> int:
        """Return how many points have a dense vector."""
        with _ENGINE_ERRORS:
            return self._shard.count(
                engine.CountRequest(exact=True, filter=engine.Filter(must=[engine.HasVectorCondition(DENSE)]))
            )

    def flush(self) -> None:
        """Bring all changes to the disk and shorten the log."""
        with _ENGINE_ERRORS:
            self._shard.flush()

    def close(self) -> None:
        """Flush and release the folder; the shard is not used again."""
        with _ENGINE_ERRORS:
            self._shard.close()

    def _upsert(self, points: list[engine.Point]) -> None:
        if points:
            self._shard.update(engine.UpdateOperation.upsert_points(points))

    def _written(self, point: Point, dense: Vector | list[float] | None) -> engine.Point:
        vectors: dict[str, Any] = {SPARSE: _sparse(point.sparse)} if point.sparse.indices else {}
        if dense is not None:
            vectors[DENSE] = self._dense(dense)
        return engine.Point(point.id, vectors, stored_payload(point.payload))

    def _dense(self, vector: Vector | list[float]) -> list[float]:
        if len(vector) != self.dimension:
            raise SpaceMismatch(
                f"A vector of {len(vector)} numbers does not belong to this space of {self.dimension}; "
                "check which model the embedder runs."
            )
        return vector if isinstance(vector, list) else vector.tolist()

    def _request(self, ask: Ask) -> engine.QueryRequest:
        vector = ask.query.vector
        if isinstance(vector, SparseVector):
            nearest = engine.Query.Nearest(_sparse(vector), using=SPARSE)
        else:
            nearest = engine.Query.Nearest(self._dense(vector), using=DENSE)
        return engine.QueryRequest(
            limit=ask.fetch,
            query=nearest,
            filter=edge_filter(ask.query.where),
            params=engine.SearchParams(exact=ask.exact),
            with_payload=False,
        )


def _sparse(vector: SparseVector) -> engine.SparseVector:
    return engine.SparseVector(list(vector.indices), list(vector.values))
