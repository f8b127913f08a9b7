"""What a commit means for the vector store: which points are new, which are rewritten, which go. Pure but for BM25."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from services.ingest.page import Chunk, PreparedPage
from services.ingest.ports import NewChunk, NewPage
from services.ingest.shelf import LivePage, StoredChunk
from services.ingest.text.preparation import payload_hash, point_hash, point_payload
from shared.embedding.embedder import Vector
from shared.ids import chunk_id
from shared.vectors.bm25 import Bm25Encoder
from shared.vectors.store import Point


@dataclass(frozen=True, slots=True)
class PointPlan:
    """Points to write before the commit, and ids to delete after it."""

    new: tuple[Point, ...]
    rewritten: tuple[Point, ...]
    obsolete: tuple[UUID, ...]


def new_page(vault_id: str, page: LivePage, prepared: PreparedPage) -> NewPage:
    """Return the page with its chunks' ids and hashes; none is embedded yet."""

    payload = point_payload(prepared, vault_id, page.page_id, page.path)
    shared = payload_hash(payload, prepared.language)

    def new(chunk: Chunk) -> NewChunk:
        stored = StoredChunk(
            chunk_id=chunk_id(vault_id, page.path, chunk.index, chunk.content_hash),
            point_hash=point_hash(shared, chunk.lexical_text),
            text_hash=chunk.text_hash,
            embedded_in=None,
        )
        return NewChunk(chunk, stored, payload)

    return NewPage(page, prepared, tuple(new(chunk) for chunk in prepared.chunks))


def texts_without_point_vector(pages: Iterable[NewPage], before: Mapping[UUID, StoredChunk], space: str) -> set[str]:
    """Return hashes of texts whose points do not have their vector in the store already."""
    return {
        new.stored.text_hash
        for page in pages
        for new in page.chunks
        if not _keeps_vector(new.stored, before.get(new.stored.chunk_id), space)
    }


def with_vectors(
    page: NewPage, before: Mapping[UUID, StoredChunk], space: str, vectors: Mapping[str, Vector]
) -> NewPage:
    """Return the page with every chunk marked whose point has, or gets at this commit, its vector."""

    def marked(new: NewChunk) -> NewChunk:
        there = _keeps_vector(new.stored, before.get(new.stored.chunk_id), space)
        if not there and new.stored.text_hash not in vectors:
            return new
        return replace(new, stored=replace(new.stored, embedded_in=space))

    return replace(page, chunks=tuple(marked(new) for new in page.chunks))


def plan_points(
    pages: Sequence[NewPage],
    before: Mapping[UUID, StoredChunk],
    vectors: Mapping[str, Vector],
    bm25: Bm25Encoder,
) -> PointPlan:
    """Compare the chunks of touched pages before and after. A point whose id and hash stay is not touched."""
    new: list[Point] = []
    rewritten: list[Point] = []
    after: set[UUID] = set()
    for page in pages:
        for item in page.chunks:
            after.add(item.stored.chunk_id)
            old = before.get(item.stored.chunk_id)
            if old is None:
                new.append(_point(page, item, vectors, bm25))
            elif old.point_hash != item.stored.point_hash or old.text_hash != item.stored.text_hash:
                rewritten.append(_point(page, item, vectors, bm25))
    obsolete = tuple(id_ for id_ in before if id_ not in after)
    return PointPlan(tuple(new), tuple(rewritten), obsolete)


def _keeps_vector(stored: StoredChunk, old: StoredChunk | None, space: str) -> bool:
    return old is not None and old.embedded_in == space and old.text_hash == stored.text_hash


def _point(page: NewPage, item: NewChunk, vectors: Mapping[str, Vector], bm25: Bm25Encoder) -> Point:
    ahead = page.prepared.weights
    return Point(
        id=item.stored.chunk_id,
        sparse=ahead[item.chunk.index] if ahead else bm25.document(item.chunk.lexical_text, page.prepared.language),
        payload=item.payload,
        dense=vectors.get(item.stored.text_hash),
    )
