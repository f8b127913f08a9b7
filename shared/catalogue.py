"""The table of channels: which messages go over which subject, in which way, from whom to whom.

Documents (`deploy/documents/`) and their tests read it; the running services take their names from `shared.topology`
directly. Subjects come from Topology, with `{parameters}` in place of values, so the two cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shared.contracts.embed import ChunkText
from shared.contracts.error import ErrorReply
from shared.contracts.files import FileChanged, VaultSettings
from shared.contracts.ingest import StatusReply, StatusRequest, SyncReply, SyncRequest, WaitReply, WaitRequest
from shared.contracts.message import Message
from shared.contracts.pages import PageEmbedded, PageIndexed, PageMoved, PageRejected, PageRemoved
from shared.contracts.search import ResolveReply, ResolveRequest, SearchReply, SearchRequest
from shared.topology import FILE_STAMP_HEADER, Topology

Kind = Literal["stream", "request", "bucket"]
"""`stream`: kept by JetStream. `request`: answered by one of a queue group. `bucket`: newest value of a key."""

PARAMETERS = {
    "vault": "Id of the vault, `[a-z0-9-]{1,63}`: the broker's permissions on it are the tenant wall.",
    "file_key": "First 32 hex digits of SHA-256 of the file's NFC path within the vault.",
    "space": "Name of the embedding space.",
    "text_hash": "SHA-256 of the text, 64 hex digits.",
    "consumer": "Consumer whose message it was.",
    "key": "Names the message within its consumer.",
}
"""What may stand in braces in a channel's subject."""


@dataclass(frozen=True, slots=True)
class Channel:
    """One subject, or one key pattern of a bucket."""

    name: str
    """Camel case, unique; the channel's key in the AsyncAPI document."""
    subject: str
    """With `{parameter}` tokens, each one of PARAMETERS."""
    kind: Kind
    publisher: str
    listener: str
    messages: tuple[type[Message], ...]
    """What is published or asked; empty: messages of any channel."""
    replies: tuple[type[Message], ...] = ()
    """What a request may be answered with; only for kind `request`."""
    stream: str | None = None
    """Stream or bucket that keeps the messages; None for requests."""
    headers: tuple[tuple[str, str], ...] = ()
    """Headers that carry meaning, each with what it says."""


def channels(topology: Topology | None = None) -> tuple[Channel, ...]:
    """Return every channel of a deployment, in the order in which data passes them."""
    names = topology or Topology()
    return (*_ingest(names), *_page_events(names), *_requests(names), _dead(names))


def _ingest(names: Topology) -> tuple[Channel, ...]:
    """Channels from a file to its vectors."""
    return (
        Channel(
            name="vaultSettings",
            subject=f"$KV.{names.vaults}.{{vault}}",
            kind="bucket",
            publisher="watcher",
            listener="worker, retrieval",
            messages=(VaultSettings,),
            stream=f"KV_{names.vaults}",
        ),
        Channel(
            name="fileChanged",
            subject=names.file("{vault}", "{file_key}"),
            kind="stream",
            publisher="watcher",
            listener="worker",
            messages=(FileChanged,),
            stream=names.files,
            headers=((FILE_STAMP_HEADER, "FileStamp as ASCII JSON: a manifest is rebuilt from headers alone."),),
        ),
        Channel(
            name="chunkText",
            subject=names.chunk_text("{space}", "{text_hash}"),
            kind="stream",
            publisher="worker",
            listener="embedder",
            messages=(ChunkText,),
            stream=names.embed,
        ),
    )


def _page_events(names: Topology) -> tuple[Channel, ...]:
    """What became of pages: one subject for each event, all in one stream."""
    events: tuple[tuple[str, type[Message], str], ...] = (
        ("indexed", PageIndexed, "worker"),
        ("embedded", PageEmbedded, "worker, embedder"),
        ("removed", PageRemoved, "worker"),
        ("moved", PageMoved, "worker"),
        ("rejected", PageRejected, "worker"),
    )
    return tuple(
        Channel(
            name=f"page{event.capitalize()}",
            subject=names.page("{vault}", event),
            kind="stream",
            publisher=publisher,
            listener="anyone",
            messages=(message,),
            stream=names.pages,
        )
        for event, message, publisher in events
    )


def _requests(names: Topology) -> tuple[Channel, ...]:
    """Everything that is asked; every request may be answered with an ErrorReply."""
    table: tuple[tuple[str, str, str, type[Message], type[Message]], ...] = (
        ("search", names.search("{vault}"), "retrieval", SearchRequest, SearchReply),
        ("resolve", names.resolve("{vault}"), "retrieval", ResolveRequest, ResolveReply),
        ("ingestStatus", names.ingest("status", "{vault}"), "ingest", StatusRequest, StatusReply),
        ("ingestWait", names.ingest("wait", "{vault}"), "ingest", WaitRequest, WaitReply),
        ("ingestSync", names.ingest("sync", "{vault}"), "watcher", SyncRequest, SyncReply),
    )
    return tuple(
        Channel(
            name=name,
            subject=subject,
            kind="request",
            publisher="anyone",
            listener=listener,
            messages=(request,),
            replies=(reply, ErrorReply),
        )
        for name, subject, listener, request, reply in table
    )


def _dead(names: Topology) -> Channel:
    """Messages that no retry can help, as they were."""
    return Channel(
        name="deadLetter",
        subject=names.dead_letter("{consumer}", "{key}"),
        kind="stream",
        publisher="delivery policy",
        listener="operators",
        messages=(),
        stream=names.dead,
    )
