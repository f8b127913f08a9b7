"""Stand-ins for NATS and the stack: replies by subject, and a stack that is only its vaults."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from rich.console import Console
from typer.testing import CliRunner, Result

from deploy.embedded.bus_requests import Requester, Streams
from deploy.embedded.cli.app import build_app
from deploy.embedded.cli.screen import open_console
from deploy.embedded.cli.world import Pace, World
from deploy.embedded.client import BusClient
from deploy.embedded.known_vaults import remember_vaults
from deploy.embedded.stack_types import OpenedStack, StackOptions, StackPart
from shared.contracts.error import ErrorReply
from shared.contracts.ingest import RejectedFile, SpaceStatus, StatusReply, SyncReply, WaitReply
from shared.contracts.message import Message
from shared.contracts.providers import PROVIDER_KEY, ProviderInfo
from shared.contracts.search import Citation, SearchReply, SearchResult
from shared.errors import CitebusError
from tests.unit.cli.scripted_turns import ScriptedTurns

PAGE_ID = "00000000-0000-4000-8000-000000000001"

OFFLINE = ProviderInfo(provider="extractive", priced=True, ready=True)

Reply = Message | Exception
Answer = Reply | list[Message]


@dataclass
class ScriptedBus:
    """Answers requests by subject: always the same, or from a list, whose last one then stays."""

    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    requests: list[tuple[str, dict[str, object]]] = field(default_factory=list[tuple[str, dict[str, object]]])
    timeouts: list[float] = field(default_factory=list[float])
    opened: list[str] = field(default_factory=list[str])
    raw: dict[str, Msg] = field(default_factory=dict[str, Msg])
    """Replies that are no messages of citebus, by subject."""
    provider: ProviderInfo | None = OFFLINE
    """What the chat service says of itself; None: it is of an earlier version."""
    turns: ScriptedTurns = field(default_factory=ScriptedTurns)
    closed: int = 0

    @asynccontextmanager
    async def connect(
        self, url: str, *, name: str, connect_timeout_s: float | None = None
    ) -> AsyncGenerator[Requester]:
        self.opened.append(url)
        try:
            yield self
        finally:
            self.closed += 1

    async def request(self, subject: str, payload: bytes = b"", timeout: float = 0.5) -> Msg:
        await asyncio.sleep(0)
        self.requests.append((subject, json.loads(payload or b"{}")))
        self.timeouts.append(timeout)
        if subject in self.raw:
            return self.raw[subject]
        if subject.startswith("citebus.v1.chat.") and subject not in self.answers:
            return as_message(await self.turns.accept(json.loads(payload), subject))
        if subject == "$SRV.INFO.citebus-chat" and self.provider is not None:
            return service_info({PROVIDER_KEY: self.provider.model_dump_json()})
        if subject not in self.answers:
            raise nats.errors.NoRespondersError
        answer = self.answers[subject]
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if isinstance(answer, Exception):
            raise answer
        return as_message(answer)

    async def publish(self, subject: str, payload: bytes = b"") -> None:
        del payload
        await self.turns.publish(subject)

    async def flush(self) -> None:
        """Everything arrives at once."""

    def jetstream(self) -> Streams:
        return self.turns

    def asked(self, subject: str) -> list[dict[str, object]]:
        return [request for asked, request in self.requests if asked == subject]


def service_info(metadata: dict[str, str]) -> Msg:
    info = {"name": "service", "endpoints": [{"name": "endpoint", "metadata": metadata}]}
    return Msg(_client=Client(), data=json.dumps(info).encode())


def as_message(reply: Message) -> Msg:
    headers = None
    if isinstance(reply, ErrorReply):
        headers = {"Nats-Service-Error-Code": reply.code, "Nats-Service-Error": reply.message}
    return Msg(_client=Client(), data=reply.to_json(), headers=headers)


@dataclass
class VaultsOnlyStack:
    """A stack without servers. `failure` is what a part gives up with, else `wait` never returns."""

    vaults: Mapping[str, Path]
    failure: CitebusError | None = None
    nats_url: str = "nats://citebus:secret@127.0.0.1:20000"
    parts: Sequence[StackPart] = (StackPart("nats-server", "127.0.0.1:20000"), StackPart("retrieval", "this process"))

    async def wait(self) -> None:
        if self.failure is not None:
            raise self.failure
        await asyncio.Event().wait()


@dataclass
class RecordingOpener:
    """Opens stacks whose vaults are the folders asked for, their names as ids, and remembers what was opened."""

    failure: Exception | None = None
    gives_up: CitebusError | None = None
    stack_type: type[VaultsOnlyStack] = VaultsOnlyStack
    opened: list[StackOptions] = field(default_factory=list[StackOptions])
    closed: int = 0

    @asynccontextmanager
    async def __call__(self, options: StackOptions, /) -> AsyncGenerator[OpenedStack]:
        if self.failure is not None:
            raise self.failure
        options.data_dir.mkdir(parents=True, exist_ok=True)
        self.opened.append(options)
        vaults = {folder.name: folder for folder in options.vaults}
        remember_vaults(options.data_dir, vaults)
        try:
            yield self.stack_type(vaults, self.gives_up)
        finally:
            self.closed += 1


@dataclass
class CommandLine:
    """The command line with its data folder, a scripted bus and a recording opener."""

    data_dir: Path
    bus: ScriptedBus = field(default_factory=ScriptedBus)
    opener: RecordingOpener = field(default_factory=RecordingOpener)
    out: Console | None = None
    stall_s: float = 60.0

    def run(self, *arguments: str, input: str | None = None, data_dir: bool = True) -> Result:
        world = World(
            open_stack=self.opener,
            connect=lambda url: BusClient(url, connect=self.bus.connect),
            configure_logging=lambda level: None,
            pace=Pace(poll_s=0.0, stall_s=self.stall_s),
            out=self.out or open_console(),
        )
        place = ("--data-dir", str(self.data_dir)) if data_dir else ()
        return CliRunner().invoke(build_app(), [*arguments, *place], input=input, obj=world)


def status_reply(vault_id: str = "notes", **fields: object) -> StatusReply:
    known: dict[str, object] = {
        "vault_id": vault_id, "pages": 3, "chunks": 9, "embedded_chunks": 9, "rejected_count": 0, "rejected": (),
        "removed": 0, "files_lag": 0, "embed_lag": 0, "dead_links": 1, "ambiguous_links": 2, "data_version": 7,
        "last_revision": 5, "text_bytes": 2048,
        "spaces": (SpaceStatus(name="hashing-64-c1", model="hashing", dimension=64, live=True, points=9),),
    }  # fmt: skip
    return StatusReply.model_validate({**known, **fields})


def rejected_file(path: str = "bad.md", reason: str = "not text: it holds NUL bytes") -> RejectedFile:
    return RejectedFile(path=path, reason=reason, last_good_is_live=True)


def sync_reply(**fields: int) -> SyncReply:
    known = {"files": 3, "published": 3, "moved": 0, "removed": 0, "unreadable": 0, "skipped": 1, "last_sequence": 3}
    return SyncReply.model_validate({**known, "duration_ms": 1.5, **fields})


def wait_reply(path: str = "wiki/tides.md") -> WaitReply:
    return WaitReply(path=path, revision=4, data_version=7)


def citation(n: int, title: str, similarity: float | None, **fields: object) -> Citation:
    passage = {
        "chunk_id": PAGE_ID,
        "content_hash": "0" * 64,
        "revision": 1,
        "heading_path": (title, "Limits"),
        "char_start": 0,
        "char_end": 10,
        "line_start": 12,
        "line_end": 31,
    }
    known: dict[str, object] = {
        "n": n,
        "ref": {"id": PAGE_ID, "title": title, "slug": "slug"},
        "path": f"wiki/{title}.md",
        "score": 1 / n,
        "phase": "vector",
        "similarity": similarity,
        "passages": (passage,),
    }
    return Citation.model_validate({**known, **fields})


def search_reply(*citations: Citation, passage: str = "Text of {title}.", **fields: object) -> SearchReply:
    entries = [f"[{one.n}] {one.ref.title}\n{passage.format(title=one.ref.title)}" for one in citations]
    results = tuple(
        SearchResult(n=one.n, id=one.ref.id, title=one.ref.title, slug="slug", score=one.score, phase=one.phase)
        for one in citations
    )
    known: dict[str, object] = {
        "query": "q", "text": "\n\n".join(entries), "citations": citations, "token_budget": 6553, "approx_tokens": 99,
        "data_version": 7, "results": results, "retriever": "hybrid", "space": "hashing-64-c1",
    }  # fmt: skip
    return SearchReply.model_validate({**known, **fields})
