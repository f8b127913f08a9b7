"""What the ingest service needs from the outside, by role."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from services.ingest.page import Chunk, PreparedPage
from services.ingest.shelf import LivePage, Shelf, Slot, StoredChunk
from shared.contracts.embed import ChunkText
from shared.contracts.files import FileChanged, VaultSettings
from shared.contracts.ingest import StatusReply
from shared.contracts.pages import PageEvent
from shared.embedding.embedder import Vector


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A chunk of a new page with what its row says beside it."""

    chunk: Chunk
    stored: StoredChunk
    payload: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class NewPage:
    """A page that the batch makes live."""

    page: LivePage
    prepared: PreparedPage
    chunks: tuple[NewChunk, ...]


@dataclass(frozen=True, slots=True)
class WaitingText:
    """A live chunk whose point has no vector of the space yet."""

    chunk_id: UUID
    text_hash: str


@dataclass(frozen=True, slots=True)
class Epoch:
    """A stretch of one stream in which positions order changes."""

    number: int
    stream: str
    """Tells the stream from one that was made anew."""
    highest_revision: int
    """Of all epochs; read in the same moment."""


class Work(Protocol):
    """One transaction over a few slots and pages of one vault, under their locks. Leaving it without error commits."""

    async def shelf(self) -> Shelf:
        """Return the locked slots and pages as they are live."""
        ...

    async def vectors(self, space: str, text_hashes: Collection[str]) -> Mapping[str, Vector]:
        """Return the vectors of these texts that the space has."""
        ...

    async def replace(self, shelf: Shelf, pages: Sequence[NewPage]) -> int:
        """Write touched slots, drop touched pages, write the new ones; links too. Return the new data version.

        From here on until the commit, workers of one vault go one after another, so that no link is missed.
        """
        ...


class Ledger(Protocol):
    """What is live (Postgres). Every method raises Unavailable when the database can't be reached or is full."""

    async def epoch(self) -> Epoch | None:
        """Return the newest epoch, with the highest revision seen in any vault; None before the first."""
        ...

    async def begin_epoch(self, stream: str) -> int:
        """Begin an epoch of this stream and return its number, larger than that of every earlier one."""
        ...

    async def ensure_vault(self, settings: VaultSettings) -> None:
        """Record a vault and its settings."""
        ...

    def work(
        self, vault_id: str, file_keys: Collection[str], page_ids: Collection[UUID]
    ) -> AbstractAsyncContextManager[Work]:
        """Lock slots and pages, in one order for all workers, and open a transaction."""
        ...

    async def outdated(self, vault_id: str, config_hash: str, limit: int) -> list[str]:
        """Return file keys of slots that were worked with another config than this."""
        ...

    async def slot(self, vault_id: str, file_key: str) -> tuple[Slot, LivePage | None] | None:
        """Return a slot and the page that lies there."""
        ...

    async def data_version(self, vault_id: str) -> int:
        """Return the vault's data version; 0 for an unknown vault."""
        ...

    async def status(self, vault_id: str, rejected_limit: int) -> StatusReply:
        """Return what Postgres knows of a vault; lags and points are 0. Raises NotFound."""
        ...


class EmbeddingLedger(Protocol):
    """What the embedding stage reads and writes (Postgres). Raises Unavailable as Ledger."""

    async def needed(self, space: str, text_hashes: Collection[str]) -> tuple[list[WaitingText], dict[str, Vector]]:
        """Return live chunks with these texts that lack the space's vector, and the vectors made before."""
        ...

    async def keep(self, space: str, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors by text hash, for good."""
        ...

    async def mark(self, space: str, chunks: Sequence[WaitingText]) -> list[PageEvent]:
        """Mark chunks as embedded, if they still have that text; return PageEmbedded for pages that are complete."""
        ...

    async def missing(self, space: str, after: UUID | None, limit: int) -> list[tuple[UUID, ChunkText]]:
        """Return texts of live chunks that lack the space's vector, by chunk id after `after`."""
        ...


class Outbox(Protocol):
    """Publishes what happened (streams PAGES and EMBED). Raises Unavailable."""

    async def publish(self, events: Sequence[PageEvent], texts: Iterable[ChunkText]) -> None:
        """Publish durably: every message is stored when this returns; repeats within two minutes are dropped.

        Texts that no message can carry are left out.
        """
        ...

    def carries(self, text: ChunkText) -> bool:
        """Say whether a message can carry a text; one that it can't is for the sweep to embed."""
        ...


class FileHistory(Protocol):
    """The stream FILES as a log that can be read again."""

    async def state(self) -> tuple[str, int]:
        """Return what changes when the stream is wiped and made anew, and the position of its last message."""
        ...

    async def last(self, vault_id: str, file_key: str) -> tuple[FileChanged, int] | None:
        """Return the newest change of a file and its position, or None."""
        ...


class VaultCatalogue(Protocol):
    """Settings of vaults as their watchers published them."""

    async def settings(self, vault_id: str) -> VaultSettings:
        """Return a vault's settings; defaults when nothing was published."""
        ...
