"""Points and queries as a Qdrant server's client takes them. Pure conversions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from qdrant_client import models

from shared.embedding.embedder import Vector
from shared.errors import SpaceMismatch
from shared.vectors.payload import stored_payload
from shared.vectors.ranking import Ask
from shared.vectors.server_filter import to_filter
from shared.vectors.store import DENSE, SPARSE, Point, SparseVector


def to_rewrite(points: Sequence[Point], dimension: int) -> list[models.UpdateOperation]:
    """Return what replaces payload and words of existing points, and a dense vector only where there is one."""
    vectors = {point.id: found for point in points if (found := to_vectors(point, dimension))}
    wordless: list[models.ExtendedPointId] = [str(point.id) for point in points if not point.sparse.indices]
    operations: list[models.UpdateOperation] = [to_vector_update(vectors)] if vectors else []
    if wordless:
        operations.append(
            models.DeleteVectorsOperation(delete_vectors=models.DeleteVectors(points=wordless, vector=[SPARSE]))
        )
    operations += [
        models.OverwritePayloadOperation(
            overwrite_payload=models.SetPayload(payload=stored_payload(point.payload), points=[str(point.id)])
        )
        for point in points
    ]
    return operations


def to_vector_update(vectors: Mapping[UUID, Any]) -> models.UpdateVectorsOperation:
    """Return what sets the named vectors of existing points, and leaves their other ones."""
    points = [models.PointVectors(id=str(id), vector=vector) for id, vector in vectors.items()]
    return models.UpdateVectorsOperation(update_vectors=models.UpdateVectors(points=points))


def to_vectors(point: Point, dimension: int) -> dict[str, Any]:
    """Return the point's named vectors. Raises SpaceMismatch for a dense one of another length."""
    vectors: dict[str, Any] = {SPARSE: _sparse(point.sparse)} if point.sparse.indices else {}
    if point.dense is not None:
        vectors[DENSE] = to_dense(point.dense, dimension)
    return vectors


def to_dense(vector: Vector, dimension: int) -> list[float]:
    """Return a dense vector as the client takes it. Raises SpaceMismatch for another length."""
    if len(vector) != dimension:
        raise SpaceMismatch(
            f"A vector of {len(vector)} numbers does not belong to this space of {dimension}; "
            "check which model the embedder runs."
        )
    return vector.tolist()


def _sparse(vector: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))


def to_request(ask: Ask, dimension: int) -> models.QueryRequest:
    """Return a query. Raises SpaceMismatch for a dense vector of another length."""
    vector = ask.query.vector
    sparse = isinstance(vector, SparseVector)
    return models.QueryRequest(
        query=models.NearestQuery(nearest=_sparse(vector) if sparse else to_dense(vector, dimension)),
        using=SPARSE if sparse else DENSE,
        filter=to_filter(ask.query.where),
        params=models.SearchParams(exact=True) if ask.exact else None,
        limit=ask.fetch,
        with_payload=False,
    )
