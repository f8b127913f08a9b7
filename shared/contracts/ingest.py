"""Requests to the ingest service: how far it is, wait for a content, sync now."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from shared.contracts.message import Message, Record, Sha256


class StatusRequest(Message):
    """Asks for the state of one vault (`citebus.v1.ingest.status.<vault>`)."""

    type: Literal["citebus.ingest.status.request.v1"] = "citebus.ingest.status.request.v1"
    rejected_limit: int = Field(default=100, ge=0, le=1000, description="At most so many rejected files are listed.")


class RejectedFile(Record):
    """A file that could not become a page, and why."""

    path: str
    reason: str
    last_good_is_live: bool = Field(description="An earlier revision of the page is still searchable.")


class SpaceStatus(Record):
    """One embedding space."""

    name: str
    model: str
    dimension: int
    live: bool
    points: int = Field(description="Points of all vaults in the vector store.")


class StatusReply(Message):
    """Counts of one vault, and how much is waiting."""

    type: Literal["citebus.ingest.status.reply.v1"] = "citebus.ingest.status.reply.v1"
    vault_id: str
    pages: int = Field(description="Live pages.")
    chunks: int = Field(description="Live chunks.")
    embedded_chunks: int = Field(description="Live chunks that have their dense vector.")
    rejected_count: int
    rejected: tuple[RejectedFile, ...]
    removed: int = Field(description="Files that were seen and are gone.")
    files_lag: int = Field(description="File changes of all vaults not yet worked.")
    embed_lag: int = Field(description="Texts of all vaults not yet embedded.")
    dead_links: int
    ambiguous_links: int
    data_version: int
    last_revision: int = Field(description="Highest revision worked in this vault.")
    text_bytes: int = Field(description="Size of the live chunks' text.")
    spaces: tuple[SpaceStatus, ...]


class WaitRequest(Message):
    """Waits until a content of a file is there (`citebus.v1.ingest.wait.<vault>`)."""

    type: Literal["citebus.ingest.wait.request.v1"] = "citebus.ingest.wait.request.v1"
    path: str = Field(min_length=1, description="Relative to the vault.")
    content_hash: Sha256
    until: Literal["searchable", "embedded"] = "searchable"
    timeout_ms: int = Field(default=5_000, ge=1, le=60_000)


class WaitReply(Message):
    """It is there. Not in time: an error `deadline`; the file was rejected: `invalid` with the reason."""

    type: Literal["citebus.ingest.wait.reply.v1"] = "citebus.ingest.wait.reply.v1"
    path: str
    revision: int
    data_version: int


class SyncRequest(Message):
    """Compares the folder with what was published, now (`citebus.v1.ingest.sync.<vault>`); the watcher answers."""

    type: Literal["citebus.ingest.sync.request.v1"] = "citebus.ingest.sync.request.v1"
    full: bool = Field(default=False, description="Hash every file, whatever its times say.")


class SyncReply(Message):
    """What the sweep found; everything up to `last_sequence` of FILES is on its way."""

    type: Literal["citebus.ingest.sync.reply.v1"] = "citebus.ingest.sync.reply.v1"
    files: int
    published: int
    moved: int
    removed: int
    unreadable: int
    skipped: int = Field(description="Entries that are no page: excluded, temporary, hidden, links out of the vault.")
    last_sequence: int
    duration_ms: float
