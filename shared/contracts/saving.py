"""Save to wiki: a text becomes a page of the vault (`citebus.v1.ingest.text.<vault>`); the watcher answers."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from shared.contracts.message import Message, Sha256

SourcePath = Annotated[str, StringConstraints(min_length=1, max_length=1024)]


class SaveTextRequest(Message):
    """Writes a page below `wiki/`, with its provenance in front matter; it is then indexed like any file.

    A page that this feature did not write is never touched. The same turn saved again, under the same title or path,
    changes nothing.
    """

    type: Literal["citebus.ingest.text.request.v1"] = "citebus.ingest.text.request.v1"
    title: str = Field(min_length=1, max_length=200, description="The page's title; its file name, when no path is.")
    path: str | None = Field(
        default=None,
        min_length=1,
        max_length=512,
        description="Relative to the vault, below `wiki/`, ending in `.md`. Null: `wiki/queries/`, a name made of the "
        "title, and when that is another page's, of title and turn.",
    )
    body: str = Field(min_length=1, max_length=200_000, description="Markdown without front matter; not only blanks.")
    sources: tuple[SourcePath, ...] = Field(
        default=(), max_length=100, description="Paths of the pages that the text rests on."
    )
    question: str | None = Field(default=None, max_length=8000)
    conversation_id: UUID | None = None
    turn_id: UUID | None = Field(default=None, description="Names what is saved: by it a page is known again.")
    message_id: UUID | None = None
    overwrite: bool = Field(
        default=False, description="Replace a page that this feature wrote, if it says something else."
    )


class SaveTextReply(Message):
    """The page is on the disk."""

    type: Literal["citebus.ingest.text.reply.v1"] = "citebus.ingest.text.reply.v1"
    path: str = Field(description="Relative to the vault.")
    content_hash: Sha256 = Field(description="Of the file: to wait for it (`ingest.wait`).")
    page_id: UUID | None = Field(default=None, description="Null: the watcher is busy and publishes the page later.")
    outcome: Literal["created", "unchanged", "updated"]
