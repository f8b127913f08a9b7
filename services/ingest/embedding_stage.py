"""The embedder's use case: waiting texts get their dense vector, in batches across pages.

A text that no live chunk needs any more is not embedded; one that was embedded before, in whatever page, is not
embedded again. Vectors are kept in Postgres first, then written to the points, then the rows are marked: a crash in
between costs no second inference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import structlog

from services.ingest.ports import EmbeddingLedger, Outbox
from shared.contracts.embed import ChunkText
from shared.embedding.embedder import Embedder, Vector
from shared.errors import PermanentError
from shared.vectors.store import VectorStore

_log = structlog.get_logger(__name__)

_SWEEP_BATCH = 500
"""Texts that one query of the sweep reads."""

_REMEMBERED = 100_000
"""Refused texts that are remembered; more than that is a wrong setting, not a few bad texts."""


class EmbeddingStage:
    """Fills in dense vectors of one space; several run at once."""

    def __init__(
        self, *, ledger: EmbeddingLedger, store: VectorStore, embedder: Embedder, outbox: Outbox, space: str
    ) -> None:
        self._ledger = ledger
        self._store = store
        self._embedder = embedder
        self._outbox = outbox
        self._space = space
        self._refused: set[str] = set()

    async def embed(self, texts: Sequence[ChunkText]) -> None:
        """Give every live chunk with one of these texts its vector; publish PageEmbedded for what became complete.

        Raises Unavailable or RateLimited (give the same texts again) and InvalidInput (the provider refuses them).
        Texts of another space are passed over: no live chunk of this space needs them.
        """
        ours = {text.text_hash: text.text for text in texts if text.space == self._space}
        chunks, known = await self._ledger.needed(self._space, ours.keys())
        if not chunks:
            return
        unknown = {chunk.text_hash: ours[chunk.text_hash] for chunk in chunks if chunk.text_hash not in known}
        vectors = known | await self._made(unknown)
        await self._store.set_dense(self._space, {chunk.chunk_id: vectors[chunk.text_hash] for chunk in chunks})
        await self._outbox.publish(await self._ledger.mark(self._space, chunks), ())

    async def requeue_missing(self) -> int:
        """Queue again every text that lacks its vector, as after a lost stream; return how many.

        A text that no message can carry is embedded here. One that the provider refused since this process started is
        left out: asking again would cost, and change nothing.
        """
        after: UUID | None = None
        count = 0
        while missing := await self._ledger.missing(self._space, after, _SWEEP_BATCH):
            texts = {text.text_hash: text for _, text in missing if text.text_hash not in self._refused}
            await self._outbox.publish((), texts.values())
            for text in texts.values():
                if not self._outbox.carries(text):
                    await self._embed_here(text)
            count += len(texts)
            after = missing[-1][0]
        if count:
            _log.info("embedding.requeued", texts=count)
        return count

    async def _embed_here(self, text: ChunkText) -> None:
        try:
            await self.embed([text])
        except PermanentError as error:
            _log.error("embedding.refused", text=text.text_hash, error=str(error))

    async def _made(self, texts: Mapping[str, str]) -> dict[str, Vector]:
        """Embed texts by hash and keep their vectors; remember one that is refused for good."""
        if not texts:
            return {}
        try:
            vectors = await self._embedder.embed_documents(list(texts.values()))
        except PermanentError:
            if len(texts) == 1 and len(self._refused) < _REMEMBERED:
                self._refused.update(texts)
            raise
        made = dict(zip(texts, vectors, strict=True))
        await self._ledger.keep(self._space, made)
        return made
