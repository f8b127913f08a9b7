"""Messages in, use cases called, outcomes out; nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import structlog
from pydantic import ValidationError

from services.ingest.embedding_stage import EmbeddingStage
from services.ingest.indexing import Arrival, Indexer
from services.ingest.ports import FileHistory, Ledger
from services.ingest.revisions import current_epoch, position, revision
from shared.contracts.embed import ChunkText
from shared.contracts.files import FileChanged
from shared.delivery import MAX_SURPRISES, Dead, Delivered, Done, Outcome, Retry
from shared.errors import CitebusError

_log = structlog.get_logger(__name__)

_EARLY_DELAY_S = 0.05
"""What a change that came before one it waits for is put off: the other one is being worked meanwhile."""


class FileChanges:
    """Handles batches of FILES."""

    def __init__(self, indexer: Indexer, history: FileHistory, ledger: Ledger) -> None:
        self._indexer = indexer
        self._history = history
        self._ledger = ledger
        self._epoch: int | None = None

    async def on_files(self, batch: Sequence[Delivered]) -> Sequence[Outcome]:
        """Index a batch, vault by vault; a message that is no FileChanged goes to the dead letters."""
        outcomes: dict[int, Outcome] = {}
        vaults: defaultdict[str, list[tuple[FileChanged, Delivered]]] = defaultdict(list)
        for delivered in batch:
            try:
                message = FileChanged.model_validate_json(delivered.data)
            except ValidationError as error:
                outcomes[delivered.sequence] = Dead(f"Not a FileChanged: {error.errors(include_input=False)[0]['msg']}")
            else:
                vaults[message.vault_id].append((message, delivered))
        for vault_id, messages in vaults.items():
            for sequence in await self._index(vault_id, messages):
                outcomes[sequence] = Retry("The page has not come to its new path yet.", _EARLY_DELAY_S)
        return [outcomes.get(delivered.sequence, Done()) for delivered in batch]

    async def _index(self, vault_id: str, messages: Sequence[tuple[FileChanged, Delivered]]) -> set[int]:
        """Index messages of one vault; return the positions of those that came too early."""
        epoch = self._epoch if self._epoch is not None else await self._current_epoch()
        try:
            effects = await self._indexer.index(vault_id, _arrivals(epoch, messages))
        except CitebusError:
            raise
        except Exception as error:
            await self._give_up(vault_id, _arrivals(epoch, messages), messages[-1][1], error)
            raise
        if any(effect.effect == "stale" for effect in effects):
            newest = await self._current_epoch()  # late, or the first of a stream that was made anew?
            if newest != epoch:
                effects = await self._indexer.index(vault_id, _arrivals(newest, messages))
        return {position(effect.change.revision) for effect in effects if effect.effect == "early"}

    async def _current_epoch(self) -> int:
        self._epoch = await current_epoch(self._ledger, self._history)
        return self._epoch

    async def _give_up(
        self, vault_id: str, arrivals: Sequence[Arrival], delivered: Delivered, error: Exception
    ) -> None:
        """Let the status show a file that the delivery policy is about to put aside."""
        if len(arrivals) == 1 and delivered.deliveries >= MAX_SURPRISES:
            reason = f"Internal error ({type(error).__name__}) in {delivered.deliveries} tries; the log says more."
            await self._indexer.reject(vault_id, arrivals[0], reason)


class ChunkTexts:
    """Handles batches of EMBED."""

    def __init__(self, stage: EmbeddingStage) -> None:
        self._stage = stage

    async def on_chunk_texts(self, batch: Sequence[Delivered]) -> Sequence[Outcome]:
        """Embed a batch; a message that is no ChunkText goes to the dead letters."""
        outcomes: list[Outcome] = [Done()] * len(batch)
        texts: list[ChunkText] = []
        for index, delivered in enumerate(batch):
            try:
                texts.append(ChunkText.model_validate_json(delivered.data))
            except ValidationError as error:
                outcomes[index] = Dead(f"Not a ChunkText: {error.errors(include_input=False)[0]['msg']}")
        await self._stage.embed(texts)
        return outcomes


def _arrivals(epoch: int, messages: Sequence[tuple[FileChanged, Delivered]]) -> list[Arrival]:
    return [
        Arrival(message, revision(epoch, delivered.sequence), delivered.deliveries) for message, delivered in messages
    ]
