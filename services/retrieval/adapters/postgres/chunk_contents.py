"""What live chunks hold (tables chunks, embeddings), read only: texts for a scorer, vectors for diversity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np

from shared.embedding.embedder import Vector
from shared.postgres.pool import Pool, translated

_STORED = np.dtype("<f4")

_TEXTS = "SELECT chunk_id, embed_text FROM chunks WHERE chunk_id = ANY ($2::uuid[]) AND vault_id = $1"

_VECTORS = """
SELECT c.chunk_id, e.vector
FROM chunks c JOIN embeddings e ON e.space = $2 AND e.text_hash = c.text_hash
WHERE c.chunk_id = ANY ($3::uuid[]) AND c.vault_id = $1
"""


class PostgresChunkContents:
    """Both reads raise Unavailable when the server is away or busy."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def texts(self, vault_id: str, chunk_ids: Sequence[UUID]) -> Mapping[UUID, str]:
        """See ChunkContents.texts."""
        with translated("reading the texts of chunks"):
            rows = await self._pool.fetch(_TEXTS, vault_id, chunk_ids)
        return {row["chunk_id"]: row["embed_text"] for row in rows}

    async def vectors(self, vault_id: str, space: str, chunk_ids: Sequence[UUID]) -> Mapping[UUID, Vector]:
        """See ChunkContents.vectors."""
        with translated("reading the vectors of chunks"):
            rows = await self._pool.fetch(_VECTORS, vault_id, space, chunk_ids)
        return {row["chunk_id"]: np.frombuffer(row["vector"], dtype=_STORED) for row in rows}
