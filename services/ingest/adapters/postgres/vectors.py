"""Vectors as rows of `embeddings`: float32, little-endian."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from services.ingest.adapters.postgres import sql
from shared.embedding.embedder import Vector
from shared.postgres.pool import Connection

_STORED = np.dtype("<f4")


def to_bytes(vector: Vector) -> bytes:
    """Return a vector as it is stored."""
    return vector.astype(_STORED, copy=False).tobytes()


def from_bytes(data: bytes) -> Vector:
    """Return a vector as it was stored; read-only."""
    return np.frombuffer(data, dtype=_STORED)


async def fetch_vectors(connection: Connection, space: str, text_hashes: Collection[str]) -> Mapping[str, Vector]:
    """Return the kept vectors of these texts, by text hash."""
    if not text_hashes:
        return {}
    rows = await connection.fetch(sql.VECTORS, space, list(text_hashes))
    return {row["text_hash"]: from_bytes(row["vector"]) for row in rows}
