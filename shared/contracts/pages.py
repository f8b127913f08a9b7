"""What became of a page (stream PAGES). Each is published after the fact, at least once."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from shared.contracts.message import Message, Sha256, VaultId


class PageEvent(Message):
    """What all page events say."""

    vault_id: VaultId
    page_id: UUID
    path: str = Field(description="Relative to the vault, NFC.")
    revision: int = Field(ge=0, description="Order of the page's changes; a later one is larger.")


class PageIndexed(PageEvent):
    """The revision is searchable (lexically at least): published after the flip."""

    type: Literal["citebus.page.indexed.v1"] = "citebus.page.indexed.v1"
    content_hash: Sha256
    chunk_count: int = Field(ge=0)
    data_version: int = Field(ge=0)


class PageEmbedded(PageEvent):
    """Every chunk of the revision has its dense vector."""

    type: Literal["citebus.page.embedded.v1"] = "citebus.page.embedded.v1"
    space: str


class PageRemoved(PageEvent):
    """The page is gone."""

    type: Literal["citebus.page.removed.v1"] = "citebus.page.removed.v1"
    data_version: int = Field(ge=0)


class PageMoved(PageEvent):
    """The page is at another path and kept its id."""

    type: Literal["citebus.page.moved.v1"] = "citebus.page.moved.v1"
    old_path: str
    data_version: int = Field(ge=0)


class PageRejected(PageEvent):
    """The file can't become a page; the last good revision, if any, stays live."""

    type: Literal["citebus.page.rejected.v1"] = "citebus.page.rejected.v1"
    content_hash: Sha256 | None = None
    reason: str
