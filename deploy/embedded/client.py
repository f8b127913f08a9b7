"""A thin client of the services: typed requests over NATS, errors as exceptions.

Sends to `citebus.v1.search|resolve.<vault>` and `citebus.v1.ingest.status|wait|sync.<vault>`. A request that failed
raises the CitebusError that its ErrorReply names; a caller never waits for a timeout when nobody is there.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from types import TracebackType
from typing import Protocol, Self, TypeVar

import nats.errors
from nats.aio.msg import Msg
from pydantic import ValidationError

from shared.bus import open_bus
from shared.contracts.error import ErrorReply
from shared.contracts.ingest import StatusReply, StatusRequest, SyncReply, SyncRequest, WaitReply, WaitRequest
from shared.contracts.message import Message
from shared.contracts.search import ResolveReply, ResolveRequest, SearchReply, SearchRequest
from shared.errors import CitebusError, DeadlineExceeded, InvalidInput, NotFound, RetryableError, TooLarge, Unavailable
from shared.topology import Topology

CONNECT_TIMEOUT_S = 5.0
"""The server is on this machine or near: if it takes longer, it is not there."""

GRACE_S = 2.0
"""What the way there and back may take on top of the time that a request states itself."""

STATUS_TIMEOUT_S = 10.0
"""Counting the rows of a large vault while a bulk load runs."""

SYNC_TIMEOUT_S = 600.0
"""A first sync reads and publishes every file: 100,000 of them at the slowest rate seen."""

_LONGEST_WAIT_MS = 60_000
"""Bound of WaitRequest.timeout_ms; a longer wait is several requests."""

_ERROR_CODE_HEADER = "Nats-Service-Error-Code"
_ERROR_HEADER = "Nats-Service-Error"

_RETRYABLE: dict[str, type[RetryableError]] = {"unavailable": Unavailable, "deadline": DeadlineExceeded}
_PERMANENT: dict[str, type[CitebusError]] = {"invalid": InvalidInput, "too_large": TooLarge, "not_found": NotFound}

ReplyT = TypeVar("ReplyT", bound=Message)


class Requester(Protocol):
    """The part of a NATS connection that is used."""

    async def request(self, subject: str, payload: bytes = b"", timeout: float = 0.5) -> Msg:
        """Send a request and return its reply; raises the errors of nats.errors."""
        ...


class Connect(Protocol):
    """Opens a connection, as shared.bus.open_bus does."""

    def __call__(
        self, url: str, *, name: str, connect_timeout_s: float | None = None
    ) -> AbstractAsyncContextManager[Requester]:
        """Return the connection's context; entering raises Unavailable."""
        ...


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
        if self._connection is None:
            raise RuntimeError("BusClient is used outside of its context")
        try:
            message = await self._connection.request(subject, request.to_json(), timeout=timeout_s)
        except nats.errors.NoRespondersError as error:
            raise Unavailable(f"nothing answers on {subject}: is the stack up? citebus up VAULT") from error
        except nats.errors.MaxPayloadError as error:
            raise TooLarge(f"the request on {subject} is larger than the server allows") from error
        except (nats.errors.TimeoutError, TimeoutError) as error:
            raise DeadlineExceeded(f"no reply on {subject} within {timeout_s:.1f} s; try again") from error
        except (nats.errors.Error, OSError) as error:
            reason = str(error) or type(error).__name__
            raise Unavailable(f"the request on {subject} did not get through: {reason}") from error
        return _parsed(message, subject, reply)


def _parsed(message: Msg, subject: str, reply: type[ReplyT]) -> ReplyT:
    headers = message.headers or {}
    if _ERROR_CODE_HEADER in headers:
        raise _error(message.data, headers)
    try:
        return reply.model_validate_json(message.data)
    except ValidationError as error:
        raise CitebusError(
            f"the reply on {subject} is no {reply.__name__}: the service is of another version; restart the stack"
        ) from error


def _error(body: bytes, headers: dict[str, str]) -> CitebusError:
    try:
        reply = ErrorReply.model_validate_json(body)
    except ValidationError:  # a code of a later version, or a service that is not ours
        return CitebusError(headers.get(_ERROR_HEADER) or f"the service failed: {headers[_ERROR_CODE_HEADER]}")
    if reply.code in _RETRYABLE:
        retry_after_s = None if reply.retry_after_ms is None else reply.retry_after_ms / 1000
        return _RETRYABLE[reply.code](reply.message, retry_after_s=retry_after_s)
    return _PERMANENT.get(reply.code, CitebusError)(reply.message)
