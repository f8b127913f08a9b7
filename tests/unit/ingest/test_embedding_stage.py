"""The embedding stage: what is embedded, how often, and what happens to a text that a provider refuses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID, uuid4

import pytest

from services.ingest.embedding_stage import EmbeddingStage
from services.ingest.ports import WaitingText
from shared.contracts.embed import ChunkText
from shared.contracts.pages import PageEvent
from shared.embedding.embedder import Space, Vector, Vectors
from shared.embedding.hashing import HashingEmbedder
from shared.errors import InvalidInput
from shared.ids import content_hash
from shared.vectors.store import Point, SparseVector
from tests.fakes.in_memory_vector_store import InMemoryVectorStore

SPACE = Space("hashing", 256, 1)


def text(words: str) -> ChunkText:
    """Return a waiting text."""
    return ChunkText(space=SPACE.name, text_hash=content_hash(words), text=words)


class InMemoryEmbeddingLedger:
    """Chunks with their texts, and the vectors kept."""

    def __init__(self, texts: Iterable[ChunkText]) -> None:
        self.chunks = {uuid4(): each for each in texts}
        self.done: set[UUID] = set()
        self.kept: dict[str, Vector] = {}

    async def needed(self, space: str, text_hashes: Collection[str]) -> tuple[list[WaitingText], dict[str, Vector]]:
        waiting = [
            WaitingText(id_, each.text_hash)
            for id_, each in self.chunks.items()
            if id_ not in self.done and each.text_hash in text_hashes
        ]
        return waiting, {
            chunk.text_hash: self.kept[chunk.text_hash] for chunk in waiting if chunk.text_hash in self.kept
        }

    async def keep(self, space: str, vectors: Mapping[str, Vector]) -> None:
        self.kept.update(vectors)

    async def mark(self, space: str, chunks: Sequence[WaitingText]) -> list[PageEvent]:
        self.done.update(chunk.chunk_id for chunk in chunks)
        return []

    async def missing(self, space: str, after: UUID | None, limit: int) -> list[tuple[UUID, ChunkText]]:
        ids = sorted(id_ for id_ in self.chunks if id_ not in self.done and (after is None or id_ > after))
        return [(id_, self.chunks[id_]) for id_ in ids[:limit]]


class RecordingOutbox:
    """Keeps what was published; carries texts up to a length."""

    def __init__(self, longest: int = 1_000) -> None:
        self.texts: list[str] = []
        self._longest = longest

    def carries(self, text: ChunkText) -> bool:
        return len(text.text) <= self._longest

    async def publish(self, events: Sequence[PageEvent], texts: Iterable[ChunkText]) -> None:
        self.texts += [each.text for each in texts if self.carries(each)]


class PickyEmbedder(HashingEmbedder):
    """Refuses any batch with a text that says `bad`."""

    async def embed_documents(self, texts: list[str]) -> Vectors:
        if any("bad" in each for each in texts):
            raise InvalidInput("The provider refuses this text.")
        return await super().embed_documents(texts)


async def stage_over(
    texts: Sequence[ChunkText], *, longest: int = 1_000
) -> tuple[EmbeddingStage, InMemoryEmbeddingLedger, RecordingOutbox, PickyEmbedder]:
    """Return a stage whose live chunks are these texts."""
    ledger, outbox, embedder = InMemoryEmbeddingLedger(texts), RecordingOutbox(longest), PickyEmbedder()
    store = InMemoryVectorStore()
    await store.ensure_space(SPACE)
    await store.upsert(SPACE.name, [Point(id_, SparseVector((), ()), {}) for id_ in ledger.chunks])
    stage = EmbeddingStage(ledger=ledger, store=store, embedder=embedder, outbox=outbox, space=SPACE.name)
    return stage, ledger, outbox, embedder


async def test_a_text_of_two_chunks_is_embedded_once_and_never_again() -> None:
    same = text("the same words")
    stage, ledger, _, embedder = await stage_over([same, same])
    await stage.embed([same])
    await stage.embed([same])
    assert (embedder.document_texts, len(ledger.done)) == (1, 2)


async def test_a_text_that_no_live_chunk_needs_is_not_embedded() -> None:
    stage, _, _, embedder = await stage_over([])
    await stage.embed([text("forgotten")])
    assert embedder.calls == 0


async def test_a_vector_kept_before_is_used_again() -> None:
    known = text("known words")
    stage, ledger, _, embedder = await stage_over([known])
    ledger.kept[known.text_hash] = await embedder.embed_query("known words")
    await stage.embed([known])
    assert (embedder.document_texts, len(ledger.done)) == (0, 1)


async def test_a_refused_text_is_not_queued_again_and_the_others_are() -> None:
    bad, good = text("a bad text"), text("a good text")
    stage, _, outbox, _ = await stage_over([bad, good])
    with pytest.raises(InvalidInput):
        await stage.embed([bad])
    assert await stage.requeue_missing() == 1
    assert outbox.texts == ["a good text"]


async def test_a_text_too_long_for_the_bus_is_embedded_by_the_sweep_and_a_refused_one_does_not_stop_it() -> None:
    long, bad, good = text("long " * 50), text("bad " * 50), text("good")
    stage, ledger, outbox, _ = await stage_over([long, bad, good], longest=100)
    await stage.requeue_missing()
    assert outbox.texts == ["good"]
    assert {ledger.chunks[id_].text for id_ in ledger.done} == {long.text}
