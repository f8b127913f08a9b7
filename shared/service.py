"""Request-reply endpoints on the NATS service API (`$SRV.PING/INFO/STATS`): typed in, typed out, never silent.

A request is answered by its reply message or by an `ErrorReply` with the headers Nats-Service-Error-Code and
Nats-Service-Error, also when its body is no valid message or the handler raises something unexpected, whose text never
leaves the process. Requests of one endpoint run concurrently up to a bound; beyond it the caller is told to retry.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import nats.errors
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.micro import add_service
from nats.micro.request import Request
from nats.micro.service import EndpointStats, ServiceConfig
from pydantic import ValidationError

from shared.bus import translated
from shared.contracts.error import ErrorCode, ErrorReply
from shared.contracts.message import Message
from shared.errors import CitebusError, DeadlineExceeded, InvalidInput, RetryableError
from shared.ids import VAULT_ID
from shared.telemetry import handling

_log = structlog.get_logger(__name__)

IN_FLIGHT = 64
"""Requests of one endpoint that one process works at once."""

_RETRY_AFTER_MS = 200
"""What a caller beyond that bound is told to wait."""

_REPLY_TOO_LARGE = "The reply is larger than a message may be: ask for less."

ERROR_CODE_HEADER = "Nats-Service-Error-Code"
ERROR_HEADER = "Nats-Service-Error"

LIMIT_S = 4.0
"""Longest work on a request that names no time of its own: shorter than what callers usually wait."""

SLACK_S = 0.25
"""What an endpoint may take beyond the time that a request names, for its own way to end in time is the better one."""

RequestT = TypeVar("RequestT", bound=Message)


def _limit_s(_: Message) -> float:
    return LIMIT_S


@dataclass(frozen=True, slots=True)
class Endpoint(Generic[RequestT]):
    """One subject with the vault as its last token, the message it takes and the handler that answers."""

    name: str
    subject: str
    request: type[RequestT]
    handler: Callable[[str, RequestT], Awaitable[Message]]
    queue: str
    limit_s: Callable[[RequestT], float | None] = _limit_s
    """Seconds after which a request is answered by an error, whatever still hangs, and its work is cancelled."""
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    """What `$SRV.INFO` says of it besides the name of its request."""


@dataclass(slots=True)
class _Served(Generic[RequestT]):
    endpoint: Endpoint[RequestT]
    errors: Counter[str] = field(default_factory=Counter[str])

    async def __call__(self, request: Request) -> None:
        """Never raises: what leaves here, `nats.micro` would send to the caller as text."""
        try:
            await self._send(request, await self._reply(request))
        except nats.errors.MaxPayloadError:
            await self._send(request, ErrorReply(code="too_large", message=_REPLY_TOO_LARGE))
        except (nats.errors.Error, OSError) as error:
            _log.warning("service.reply_lost", endpoint=self.endpoint.name, error=str(error) or type(error).__name__)

    async def _send(self, request: Request, reply: Message) -> None:
        headers: dict[str, str] | None = None
        if isinstance(reply, ErrorReply):
            self.errors[reply.code] += 1
            headers = {ERROR_CODE_HEADER: reply.code, ERROR_HEADER: _header_text(reply.message)}
        await request.respond(reply.to_json(), headers=headers)

    async def _reply(self, request: Request) -> Message:
        with handling(self.endpoint.name, request.headers):
            try:
                return await self._worked(_vault_id(request.subject), self._parsed(request.data))
            except CitebusError as error:
                return error_reply(error)
            except Exception as error:  # noqa: BLE001  (the policy: a caller never waits for its timeout)
                _log.exception("service.failed", endpoint=self.endpoint.name, exc_info=error)
                return ErrorReply(code="internal", message="An unexpected error; the service's log says more.")

    async def _worked(self, vault_id: str, request: RequestT) -> Message:
        """Return what the handler returns; do not wait for one that is cancelled, as a frozen server may hold it."""
        limit_s = self.endpoint.limit_s(request)
        working = asyncio.ensure_future(self.endpoint.handler(vault_id, request))
        try:
            done, _ = await asyncio.wait({working}, timeout=limit_s)
        finally:
            if not working.done():
                working.cancel()
                working.add_done_callback(_forget)
        if not done:
            raise DeadlineExceeded(f"No answer within {limit_s:g} s: a server may be down or busy, try again.")
        return working.result()

    def _parsed(self, data: bytes) -> RequestT:
        try:
            return self.endpoint.request.model_validate_json(data or b"{}")
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "body"
            kind = self.endpoint.request.__name__
            raise InvalidInput(f"The request is no valid {kind}: {where}: {first['msg']}.") from error


def _forget(abandoned: asyncio.Future[Message]) -> None:
    if not abandoned.cancelled() and (error := abandoned.exception()) is not None:
        _log.info("service.abandoned", error=str(error) or type(error).__name__)


def error_reply(error: CitebusError) -> ErrorReply:
    """Return what a caller is told of an error that citebus raised on purpose."""
    retry_after_s = error.retry_after_s if isinstance(error, RetryableError) else None
    known: dict[str, ErrorCode] = {
        "invalid": "invalid",
        "not_found": "not_found",
        "too_large": "too_large",
        "unavailable": "unavailable",
        "deadline": "deadline",
    }
    return ErrorReply(
        code=known.get(error.code, "internal"),
        message=str(error),
        retry_after_ms=None if retry_after_s is None else int(retry_after_s * 1000),
    )


@asynccontextmanager
async def serve(
    client: Client, *, name: str, version: str, description: str, endpoints: Sequence[Endpoint[Any]]
) -> AsyncGenerator[None]:
    """Answer requests until the block ends; then finish those under way. Raises Unavailable."""
    concurrent = _Concurrent(client)
    served = {endpoint.name: _Served(endpoint) for endpoint in endpoints}

    def stats(stats: EndpointStats) -> dict[str, object]:
        errors = served[stats.name].errors
        stats.num_errors = errors.total()  # `nats.micro` counts only handlers that raise
        return {"errors_by_code": dict(errors)}

    config = ServiceConfig(name=name, version=version, description=description, stats_handler=stats)
    with translated(f"registering {name}"):
        service = await add_service(concurrent, config)  # pyright: ignore[reportArgumentType]  (uses subscribe only)
        for endpoint in endpoints:
            await service.add_endpoint(
                name=endpoint.name,
                subject=endpoint.subject,
                handler=served[endpoint.name],
                queue_group=endpoint.queue,
                metadata={"request": endpoint.request.__name__, **endpoint.metadata},
            )
    try:
        yield
    finally:
        if client.is_connected:
            with translated(f"stopping {name}"):
                await service.stop()
        await concurrent.finish()


class _Concurrent:
    """The client as `nats.micro` sees it: a subscription's messages are handled side by side, not one after another."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._tasks: set[asyncio.Task[None]] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def subscribe(self, subject: str, queue: str = "", cb: Callable[[Msg], Awaitable[None]] | None = None) -> Any:
        """Subscribe like the client, with a bound on messages in flight."""
        if cb is None:
            return await self._client.subscribe(subject, queue)
        in_flight = 0

        async def handle(message: Msg) -> None:
            nonlocal in_flight
            try:
                await cb(message)
            finally:
                in_flight -= 1

        async def dispatch(message: Msg) -> None:
            nonlocal in_flight
            if not message.reply:
                return  # published, not asked: nobody waits for an answer
            if in_flight >= IN_FLIGHT:
                await self._refuse(message)
                return
            in_flight += 1
            task = asyncio.create_task(handle(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        return await self._client.subscribe(subject, queue, cb=dispatch)

    async def _refuse(self, message: Msg) -> None:
        reply = ErrorReply(code="unavailable", message="Too many requests at once.", retry_after_ms=_RETRY_AFTER_MS)
        headers = {ERROR_CODE_HEADER: reply.code, ERROR_HEADER: reply.message}
        await self._client.publish(message.reply, reply.to_json(), headers=headers)

    async def finish(self) -> None:
        """Wait for the requests under way."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=10)


def _vault_id(subject: str) -> str:
    vault_id = subject.rpartition(".")[2]
    if not VAULT_ID.fullmatch(vault_id):
        raise InvalidInput(f"'{vault_id[:80]}' is no vault id: lower-case letters, digits and hyphens, 1 to 63.")
    return vault_id


def _header_text(text: str) -> str:
    """Return text as a header can carry it: printable ASCII, one line."""
    return text.encode("ascii", "backslashreplace").decode().replace("\r", " ").replace("\n", " ")[:500]
