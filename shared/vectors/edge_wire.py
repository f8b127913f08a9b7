"""How the engine's process and its caller talk: frames over a private pair of sockets, calls one way, answers back.

A frame is a length (4 bytes, big-endian) and a pickle. Only the process that started the other holds the far end, so
both trust what comes. Points and hits travel as arrays: pickling each number would cost more than the call itself.
"""

from __future__ import annotations

import asyncio
import pickle
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np

from shared.embedding.embedder import Vector
from shared.pickling import pickled_by_fields
from shared.vectors.store import Point, ScoredPoint, SparseVector

MAX_POINTS = 256
"""Points of one call: about 1 MB, and searches of others are answered between two calls."""

_LENGTH_BYTES = 4
_ID_BYTES = 16


@pickled_by_fields
@dataclass(frozen=True, slots=True)
class Call:
    """What is asked: a method of the store and its arguments. Answers may come in another order."""

    number: int
    method: str
    arguments: tuple[Any, ...]


@pickled_by_fields
@dataclass(frozen=True, slots=True)
class Answer:
    """What a call came to: a result, or the code and text of an error of citebus."""

    number: int
    result: Any = None
    error: tuple[str, str] | None = None


class Frames:
    """One end of the pair."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, message: Call | Answer) -> None:
        """Send a message; returns when the far end keeps up. Raises ConnectionError when it is gone."""
        data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
        self._writer.write(len(data).to_bytes(_LENGTH_BYTES, "big") + data)
        await self._writer.drain()

    async def receive(self) -> Any:
        """Return the next message; None when the far end is gone."""
        try:
            length = int.from_bytes(await self._reader.readexactly(_LENGTH_BYTES), "big")
            return pickle.loads(await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    def close(self) -> None:
        """Close this end; the far end then receives None."""
        self._writer.close()


_PackedPoint = tuple[bytes, bytes, bytes, Mapping[str, object], bytes | None]


def packed_points(points: Sequence[Point]) -> list[_PackedPoint]:
    """Return points as they travel."""
    return [
        (
            point.id.bytes,
            array("I", point.sparse.indices).tobytes(),
            array("d", point.sparse.values).tobytes(),
            point.payload,
            None if point.dense is None else point.dense.tobytes(),
        )
        for point in points
    ]


def unpacked_points(packed: Sequence[_PackedPoint]) -> list[Point]:
    """Return the points that `packed_points` was given."""
    return [
        Point(
            UUID(bytes=id),
            SparseVector(array("I", indices), array("d", values)),
            payload,
            None if dense is None else np.frombuffer(dense, np.float32),
        )
        for id, indices, values, payload, dense in packed
    ]


def packed_vectors(vectors: Sequence[tuple[UUID, Vector]]) -> list[tuple[bytes, bytes]]:
    """Return dense vectors by id as they travel."""
    return [(id.bytes, vector.tobytes()) for id, vector in vectors]


def unpacked_vectors(packed: Sequence[tuple[bytes, bytes]]) -> dict[UUID, Vector]:
    """Return the vectors that `packed_vectors` was given."""
    return {UUID(bytes=id): np.frombuffer(vector, np.float32) for id, vector in packed}


def packed_ids(ids: Sequence[UUID]) -> bytes:
    """Return ids as they travel."""
    return b"".join([id.bytes for id in ids])


def unpacked_ids(packed: bytes) -> list[UUID]:
    """Return the ids that `packed_ids` was given."""
    return [UUID(bytes=packed[at : at + _ID_BYTES]) for at in range(0, len(packed), _ID_BYTES)]


def packed_hits(hits: Sequence[ScoredPoint]) -> tuple[bytes, bytes]:
    """Return the hits of one query as they travel."""
    return packed_ids([hit.id for hit in hits]), array("d", [hit.score for hit in hits]).tobytes()


def unpacked_hits(packed: tuple[bytes, bytes]) -> list[ScoredPoint]:
    """Return the hits that `packed_hits` was given."""
    ids, scores = packed
    return list(map(ScoredPoint, unpacked_ids(ids), array("d", scores)))
