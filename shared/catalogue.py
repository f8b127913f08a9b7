"""The table of channels: which messages go over which subject, in which way, from whom to whom.

Documents (`deploy/documents/`) and their tests read it; the running services take their names from `shared.topology`
directly. Subjects come from Topology, with `{parameters}` in place of values, so the two cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shared.contracts.calibration import CalibrateReply, CalibrateRequest
from shared.contracts.chat import (
    CancelRequest,
    ChatAccepted,
    ChatRequest,
    TurnCancelled,
    TurnCitation,
    TurnDelta,
    TurnDone,
    TurnFailed,
    TurnSources,
)
from shared.contracts.conversations import (
    ConversationSearchReply,
    ConversationSearchRequest,
    CostsReply,
    CostsRequest,
    CreateRequest,
    DeleteReply,
    DeleteRequest,
    ExportReply,
    ExportRequest,
    GetReply,
    GetRequest,
    ListReply,
    ListRequest,
    RenameRequest,
    SaveRequest,
    ScoreReply,
    ScoreRequest,
    SharedRequest,
    ShareReply,
    ShareRequest,
    SummaryReply,
    UnshareReply,
    UnshareRequest,
)
from shared.contracts.embed import ChunkText
from shared.contracts.error import ErrorReply
from shared.contracts.files import FileChanged, VaultSettings
from shared.contracts.ingest import StatusReply, StatusRequest, SyncReply, SyncRequest, WaitReply, WaitRequest
from shared.contracts.message import Message
from shared.contracts.pages import PageEmbedded, PageIndexed, PageMoved, PageRejected, PageRemoved
from shared.contracts.saving import SaveTextReply, SaveTextRequest
from shared.contracts.search import ResolveReply, ResolveRequest, SearchReply, SearchRequest
from shared.topology import FILE_STAMP_HEADER, Topology

Kind = Literal["stream", "request", "bucket", "signal"]
"""`stream`: kept by JetStream. `request`: answered by one of a queue group. `bucket`: newest value of a key. `signal`:
heard by every listener that is there, kept nowhere."""

PARAMETERS = {
    "vault": "Id of the vault, `[a-z0-9-]{1,63}`: the broker's permissions on it are the tenant wall.",
    "file_key": "First 32 hex digits of SHA-256 of the file's NFC path within the vault.",
    "space": "Name of the embedding space.",
    "text_hash": "SHA-256 of the text, 64 hex digits.",
    "turn_id": "UUID of the turn, chosen by the asker.",
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
    """Stream or bucket that keeps the messages; None for requests and signals."""
    headers: tuple[tuple[str, str], ...] = ()
    """Headers that carry meaning, each with what it says."""


def channels(topology: Topology | None = None) -> tuple[Channel, ...]:
    """Return every channel of a deployment, in the order in which data passes them."""
    names = topology or Topology()
    return (
        *_ingest(names),
        *_page_events(names),
        *_requests(names),
        *_turns(names),
        *_conversations(names),
        _dead(names),
    )


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
        ("ingestText", names.ingest("text", "{vault}"), "watcher", SaveTextRequest, SaveTextReply),
    )
    return tuple(_request(*row) for row in table)


def _request(name: str, subject: str, listener: str, request: type[Message], reply: type[Message]) -> Channel:
    return Channel(name, subject, "request", "anyone", listener, (request,), (reply, ErrorReply))


def _turns(names: Topology) -> tuple[Channel, ...]:
    """A question, its answer as it is written, the way to stop it, and what is not answered at all."""
    return (
        _request("chat", names.chat("{vault}"), "chat", ChatRequest, ChatAccepted),
        Channel(
            name="turn",
            subject=names.turn("{vault}", "{turn_id}"),
            kind="stream",
            publisher="chat",
            listener="anyone",
            messages=(TurnSources, TurnDelta, TurnCitation, TurnDone, TurnFailed, TurnCancelled),
            stream=names.turns,
        ),
        Channel(
            name="cancel",
            subject=names.cancel("{vault}", "{turn_id}"),
            kind="signal",
            publisher="anyone",
            listener="chat",
            messages=(CancelRequest,),
        ),
        _request("calibrate", names.calibrate("{vault}"), "chat", CalibrateRequest, CalibrateReply),
    )


def _conversations(names: Topology) -> tuple[Channel, ...]:
    """Everything that is asked of stored conversations."""
    table: tuple[tuple[str, type[Message], type[Message]], ...] = (
        ("create", CreateRequest, SummaryReply),
        ("list", ListRequest, ListReply),
        ("get", GetRequest, GetReply),
        ("rename", RenameRequest, SummaryReply),
        ("delete", DeleteRequest, DeleteReply),
        ("search", ConversationSearchRequest, ConversationSearchReply),
        ("export", ExportRequest, ExportReply),
        ("share", ShareRequest, ShareReply),
        ("unshare", UnshareRequest, UnshareReply),
        ("shared", SharedRequest, GetReply),
        ("costs", CostsRequest, CostsReply),
        ("save", SaveRequest, SaveTextReply),
        ("score", ScoreRequest, ScoreReply),
    )
    return tuple(
        _request(
            f"conversation{operation.capitalize()}", names.conversation(operation, "{vault}"), "chat", request, reply
        )
        for operation, request, reply in table
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
