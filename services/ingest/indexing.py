"""The worker's use case: file changes become live pages, searchable at once, without any model.

Order of a commit (DESIGN §6): lock, check the fence, write new points, commit rows, delete obsolete points, publish,
and only then may the caller ack. A crash between any two steps leaves either the old page or the new one live, and the
redelivered change finishes what is missing. Vectors without a row are invisible until something removes them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from services.ingest.events import page_events, waiting_texts
from services.ingest.points import new_page, plan_points, texts_without_point_vector, with_vectors
from services.ingest.ports import Ledger, NewPage, Outbox, VaultCatalogue, Work
from services.ingest.preparing import Preparing
from services.ingest.shelf import Change, Effected, Outcome, Shelf, StoredChunk
from services.ingest.text.fingerprint import config_hash
from shared.contracts.files import FileChanged, VaultSettings
from shared.ids import file_key
from shared.vectors.bm25 import Bm25Encoder
from shared.vectors.store import VectorStore

_PATIENCE = 40
"""Deliveries that the tombstone of a moved page waits for the page; then the page is taken for gone."""

_NO_CONFIG = "none"
"""Config of a change that no config worked: it differs from every other."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A file change as it was delivered."""

    message: FileChanged
    revision: int
    deliveries: int = 1


@dataclass(frozen=True, slots=True)
class _Committed:
    effects: list[Effected]
    shelf: Shelf
    pages: dict[UUID, NewPage]
    obsolete: tuple[UUID, ...]
    version: int


class Indexer:
    """Commits file changes of one vault at a time; several run at once, in one process or in many."""

    def __init__(  # noqa: PLR0913  (one collaborator per role)
        self,
        *,
        ledger: Ledger,
        store: VectorStore,
        outbox: Outbox,
        catalogue: VaultCatalogue,
        preparing: Preparing,
        bm25: Bm25Encoder,
        space: str,
    ) -> None:
        self._ledger = ledger
        self._store = store
        self._outbox = outbox
        self._catalogue = catalogue
        self._preparing = preparing
        self._bm25 = bm25
        self._space = space
        self._recorded: dict[str, VaultSettings] = {}

    async def index(self, vault_id: str, arrivals: Sequence[Arrival]) -> list[Effected]:
        """Make these changes live in one transaction and publish what became of them; return what each did.

        What was done before is not done again. Raises Unavailable when a store or the bus is away: nothing is lost,
        the same arrivals may be given again.
        """
        settings = await self._settings(vault_id)
        config = config_hash(settings)
        outcomes = await self._preparing.outcomes([arrival.message for arrival in arrivals], settings)
        changes = [_change(arrival, config, outcome) for arrival, outcome in zip(arrivals, outcomes, strict=True)]
        committed = await self._commit(vault_id, changes)
        if committed.obsolete:
            await self._store.delete(self._space, committed.obsolete)
        await self._outbox.publish(
            page_events(committed.effects, committed.shelf, committed.pages, self._space, committed.version),
            waiting_texts(committed.effects, committed.shelf, committed.pages, self._space),
        )
        return committed.effects

    async def reject(self, vault_id: str, arrival: Arrival, reason: str) -> None:
        """Record that a change can't be worked, so that it shows in the status; the last good revision stays live.

        It is tried again when the service starts anew, as with a change of settings.
        """
        await self._settings(vault_id)
        change = _change(arrival, _NO_CONFIG, reason)
        committed = await self._commit(vault_id, [change])
        await self._outbox.publish(page_events(committed.effects, committed.shelf, {}, self._space, 0), ())

    async def _settings(self, vault_id: str) -> VaultSettings:
        settings = await self._catalogue.settings(vault_id)
        if self._recorded.get(vault_id) != settings:
            await self._ledger.ensure_vault(settings)
            self._recorded[vault_id] = settings
        return settings

    async def _commit(self, vault_id: str, changes: Sequence[Change]) -> _Committed:
        keys = {change.file_key for change in changes}
        ids = {change.message.page_id for change in changes}
        async with self._ledger.work(vault_id, keys, ids) as work:
            shelf = await work.shelf()
            before = dict(shelf.pages)
            effects = [shelf.apply(change) for change in sorted(changes, key=lambda change: change.revision)]
            chunks_before = {
                chunk.chunk_id: chunk
                for page_id in shelf.touched_pages
                if page_id in before
                for chunk in before[page_id].chunks
            }
            pages, obsolete = await self._write_points(vault_id, work, shelf, chunks_before)
            version = await work.replace(shelf, pages)
        return _Committed(effects, shelf, {page.page.page_id: page for page in pages}, obsolete, version)

    async def _write_points(
        self, vault_id: str, work: Work, shelf: Shelf, before: dict[UUID, StoredChunk]
    ) -> tuple[list[NewPage], tuple[UUID, ...]]:
        live = [shelf.pages[id_] for id_ in sorted(shelf.touched_pages) if id_ in shelf.pages]
        pages = [new_page(vault_id, page, page.prepared) for page in live if page.prepared is not None]
        vectors = await work.vectors(self._space, texts_without_point_vector(pages, before, self._space))
        pages = [with_vectors(page, before, self._space, vectors) for page in pages]
        plan = await asyncio.to_thread(plan_points, pages, before, vectors, self._bm25)
        if plan.new:
            await self._store.upsert(self._space, plan.new)
        if plan.rewritten:
            await self._store.rewrite(self._space, plan.rewritten)
        return pages, plan.obsolete


def _change(arrival: Arrival, config: str, outcome: Outcome) -> Change:
    return Change(
        message=arrival.message,
        file_key=file_key(arrival.message.path),
        revision=arrival.revision,
        config_hash=config,
        outcome=outcome,
        redelivered=arrival.deliveries > 1,
        patient=arrival.deliveries <= _PATIENCE,
    )
