"""A thin client of the services: typed requests over NATS, answers as streams of events, errors as exceptions.

Sends to `citebus.v1.search|resolve|chat.<vault>`, `citebus.v1.ingest.status|wait|sync.<vault>`,
`citebus.v1.conversation.<op>.<vault>` and `citebus.v1.cancel.<vault>.<turn>`; reads the stream TURNS. A request that
failed raises the CitebusError that its ErrorReply names; a caller never waits for a timeout when nobody is there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self, TypeVar
from uuid import UUID

from pydantic import BaseModel, ValidationError

from deploy.embedded.bus_requests import BusRequests, Connect, ReplyT, Requester
from deploy.embedded.conversation_client import ConversationClient
from deploy.embedded.turn_reading import TurnReader
from shared.bus import open_bus, translated
from shared.contracts.calibration import CalibrateReply, CalibrateRequest
from shared.contracts.chat import AnyTurnEvent, CancelRequest, ChatAccepted, ChatRequest, TurnEnd
from shared.contracts.ingest import StatusReply, StatusRequest, SyncReply, SyncRequest, WaitReply, WaitRequest
from shared.contracts.message import Message, Record
from shared.contracts.profiles import PROFILES_KEY, ProfileList
from shared.contracts.providers import PROVIDER_KEY, ProviderInfo
from shared.contracts.search import ResolveReply, ResolveRequest, SearchReply, SearchRequest
from shared.errors import CitebusError, DeadlineExceeded
from shared.topology import SERVICE_CHAT, SERVICE_RETRIEVAL, Topology

CONNECT_TIMEOUT_S = 5.0
"""The server is on this machine or near: if it takes longer, it is not there."""

GRACE_S = 2.0
"""What the way there and back may take on top of the time that a request states itself."""

STATUS_TIMEOUT_S = 10.0
"""Counting the rows of a large vault while a bulk load runs."""

SYNC_TIMEOUT_S = 600.0
"""A first sync reads and publishes every file: 100,000 of them at the slowest rate seen."""

LATE_S = 35.0
"""After its deadline a turn ends at once, or, if the process that worked on it has died, within half a minute."""

_LONGEST_WAIT_MS = 60_000
"""Bound of WaitRequest.timeout_ms; a longer wait is several requests."""

InfoT = TypeVar("InfoT", bound=Record)


class _EndpointInfo(BaseModel):
    metadata: dict[str, str] = {}


class _ServiceInfo(BaseModel):
    """What is read of a reply to `$SRV.INFO` (NATS service API, io.nats.micro.v1.info_response)."""

    endpoints: list[_EndpointInfo]


class BusClient:
    """Asks the services of one deployment. Use it as an async context manager; requests may run concurrently.

    Every request raises the error that the service replied (InvalidInput, TooLarge, NotFound, Unavailable with
    `retry_after_s`, DeadlineExceeded, CitebusError for an internal one), Unavailable when nothing answers on the
    subject, and DeadlineExceeded when the service took the request and stayed silent.
    """

    def __init__(self, nats_url: str, topology: Topology | None = None, *, connect: Connect = open_bus) -> None:
        self._nats_url = nats_url
        self._topology = topology or Topology()
        self._connect = connect
        self._resources = AsyncExitStack()
        self._connection: Requester | None = None

    async def __aenter__(self) -> Self:
        """Connect; raises Unavailable."""
        connecting = self._connect(self._nats_url, name="citebus-client", connect_timeout_s=CONNECT_TIMEOUT_S)
        self._connection = await self._resources.enter_async_context(connecting)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Disconnect."""
        await self._resources.aclose()

    async def search(self, vault_id: str, request: SearchRequest) -> SearchReply:
        """Search a vault."""
        timeout_s = request.deadline_ms / 1000 + GRACE_S
        return await self._ask(self._topology.search(vault_id), request, SearchReply, timeout_s)

    async def profiles(self) -> ProfileList:
        """Return the retrieval profiles of the service that answers first."""
        return await self._metadata(SERVICE_RETRIEVAL, PROFILES_KEY, ProfileList)

    async def provider(self) -> ProviderInfo:
        """Return who answers questions, as the chat service says that answers first."""
        return await self._metadata(SERVICE_CHAT, PROVIDER_KEY, ProviderInfo)

    async def ask(self, vault_id: str, request: ChatRequest) -> AsyncGenerator[AnyTurnEvent]:
        """Ask a question and yield its turn's events as they come, the last one a TurnEnd.

        A connection that is lost meanwhile is waited for. What the question itself failed with is raised before any
        event; DeadlineExceeded: the turn did not end, long after its deadline. Leaving early does not cancel the turn.
        """
        subject = self._topology.turn(vault_id, str(request.turn_id))
        late = asyncio.get_running_loop().time() + request.deadline_ms / 1000 + LATE_S
        async with TurnReader(self._connected.jetstream(), self._topology.turns, subject) as reader:
            await self._ask(self._topology.chat(vault_id), request, ChatAccepted, STATUS_TIMEOUT_S)
            while True:
                try:
                    async with asyncio.timeout_at(late):
                        event = await reader.next()
                except TimeoutError as error:
                    raise DeadlineExceeded("the answer did not end in time: does the chat service run?") from error
                yield event
                if isinstance(event, TurnEnd):
                    return

    async def cancel(self, vault_id: str, turn_id: UUID) -> None:
        """End a turn; its events tell when it has. Raises Unavailable."""
        with translated("cancelling a turn"):
            await self._connected.publish(self._topology.cancel(vault_id, str(turn_id)), CancelRequest().to_json())
            await self._connected.flush()

    @property
    def conversations(self) -> ConversationClient:
        """What was asked and answered before."""
        return ConversationClient(BusRequests(self._connected), self._topology)

    async def calibrate(self, vault_id: str, request: CalibrateRequest) -> CalibrateReply:
        """Find, and record if asked to, from which evidence on a question an answer is tried."""
        timeout_s = request.deadline_ms / 1000 + GRACE_S
        return await self._ask(self._topology.calibrate(vault_id), request, CalibrateReply, timeout_s)

    async def resolve(self, vault_id: str, request: ResolveRequest) -> ResolveReply:
        """Say what became of a citation."""
        return await self._ask(self._topology.resolve(vault_id), request, ResolveReply, STATUS_TIMEOUT_S)

    async def status(self, vault_id: str, request: StatusRequest | None = None) -> StatusReply:
        """Return a vault's counts and what is waiting."""
        subject = self._topology.ingest("status", vault_id)
        return await self._ask(subject, request or StatusRequest(), StatusReply, STATUS_TIMEOUT_S)

    async def sync(self, vault_id: str, request: SyncRequest | None = None) -> SyncReply:
        """Have the watcher compare the folder with what was published, now."""
        subject = self._topology.ingest("sync", vault_id)
        return await self._ask(subject, request or SyncRequest(), SyncReply, SYNC_TIMEOUT_S)

    async def wait(self, vault_id: str, request: WaitRequest, *, timeout_s: float | None = None) -> WaitReply:
        """Return when the content is there; `timeout_s` (else the request's own bound) may exceed a minute."""
        subject = self._topology.ingest("wait", vault_id)
        loop = asyncio.get_running_loop()
        end = loop.time() + (request.timeout_ms / 1000 if timeout_s is None else timeout_s)
        while True:
            left_ms = max(1, min(_LONGEST_WAIT_MS, round((end - loop.time()) * 1000)))
            part = request.model_copy(update={"timeout_ms": left_ms})
            try:
                return await self._ask(subject, part, WaitReply, left_ms / 1000 + GRACE_S)
            except DeadlineExceeded:
                if loop.time() >= end or left_ms < _LONGEST_WAIT_MS:
                    raise

    async def _ask(self, subject: str, request: Message, reply: type[ReplyT], timeout_s: float) -> ReplyT:
        return await BusRequests(self._connected).ask(subject, request, reply, timeout_s)

    async def _metadata(self, service: str, key: str, kind: type[InfoT]) -> InfoT:
        """Return what a service says of itself; an unexpected one is of another version."""
        message = await BusRequests(self._connected).message(f"$SRV.INFO.{service}", b"", STATUS_TIMEOUT_S)
        try:
            info = _ServiceInfo.model_validate_json(message.data)
            shown = (endpoint.metadata.get(key) for endpoint in info.endpoints)
            return kind.model_validate_json(next(filter(None, shown), ""))
        except ValidationError as error:
            name = service.removeprefix("citebus-")
            raise CitebusError(f"the {name} service is of another version: restart the stack") from error

    @property
    def _connected(self) -> Requester:
        if self._connection is None:
            raise RuntimeError("BusClient is used outside of its context")
        return self._connection
