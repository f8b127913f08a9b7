"""Requests over NATS: typed in, typed out, errors as exceptions.

A request that failed raises the CitebusError that its ErrorReply names; a caller never waits for a timeout when nobody
is there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

import nats.errors
from nats.aio.msg import Msg
from pydantic import ValidationError

from shared.contracts.error import ErrorReply
from shared.contracts.message import Message
from shared.errors import CitebusError, DeadlineExceeded, InvalidInput, NotFound, RetryableError, TooLarge, Unavailable

_ERROR_CODE_HEADER = "Nats-Service-Error-Code"
_ERROR_HEADER = "Nats-Service-Error"

_RETRYABLE: dict[str, type[RetryableError]] = {"unavailable": Unavailable, "deadline": DeadlineExceeded}
_PERMANENT: dict[str, type[CitebusError]] = {"invalid": InvalidInput, "too_large": TooLarge, "not_found": NotFound}

ReplyT = TypeVar("ReplyT", bound=Message)


class Subscription(Protocol):
    """What is heard until it is ended."""

    async def unsubscribe(self) -> None:
        """Hear nothing more; raises the errors of nats.errors."""
        ...


class Streams(Protocol):
    """The part of JetStream that is used."""

    async def subscribe(
        self, subject: str, *, stream: str, ordered_consumer: bool, cb: Callable[[Msg], Awaitable[None]]
    ) -> Subscription:
        """Hear what the stream holds on a subject, from its first message on, and what comes; in order."""
        ...


class Requester(Protocol):
    """The part of a NATS connection that is used."""

    async def request(self, subject: str, payload: bytes = b"", timeout: float = 0.5) -> Msg:
        """Send a request and return its reply; raises the errors of nats.errors."""
        ...

    async def publish(self, subject: str, payload: bytes = b"") -> None:
        """Send a message that nobody answers; raises the errors of nats.errors."""
        ...

    async def flush(self) -> None:
        """Return when the server has what was sent; raises the errors of nats.errors."""
        ...

    def jetstream(self) -> Streams:
        """Return the streams."""
        ...


class Connect(Protocol):
    """Opens a connection, as shared.bus.open_bus does."""

    def __call__(
        self, url: str, *, name: str, connect_timeout_s: float | None = None
    ) -> AbstractAsyncContextManager[Requester]:
        """Return the connection's context; entering raises Unavailable."""
        ...


class BusRequests:
    """Sends requests over one connection."""

    def __init__(self, connection: Requester) -> None:
        self._connection = connection

    async def ask(self, subject: str, request: Message, reply: type[ReplyT], timeout_s: float) -> ReplyT:
        """Send a request and return its reply; raises the error that was replied, and what `message` raises."""
        return _parsed(await self.message(subject, request.to_json(), timeout_s), subject, reply)

    async def message(self, subject: str, payload: bytes, timeout_s: float) -> Msg:
        """Send a request and return its reply as it came; raises Unavailable, TooLarge and DeadlineExceeded."""
        try:
            return await self._connection.request(subject, payload, timeout=timeout_s)
        except nats.errors.NoRespondersError as error:
            raise Unavailable(f"nothing answers on {subject}: is the stack up? citebus up VAULT") from error
        except nats.errors.MaxPayloadError as error:
            raise TooLarge(f"the request on {subject} is larger than the server allows") from error
        except (nats.errors.TimeoutError, TimeoutError) as error:
            raise DeadlineExceeded(f"no reply on {subject} within {timeout_s:.1f} s; try again") from error
        except (nats.errors.Error, OSError) as error:
            reason = str(error) or type(error).__name__
            raise Unavailable(f"the request on {subject} did not get through: {reason}") from error


def error_of(code: str, message: str, retry_after_ms: int | None = None) -> CitebusError:
    """Return the error that a code names; one of a later version is a CitebusError."""
    if code in _RETRYABLE:
        retry_after_s = None if retry_after_ms is None else retry_after_ms / 1000
        return _RETRYABLE[code](message, retry_after_s=retry_after_s)
    return _PERMANENT.get(code, CitebusError)(message)


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
    return error_of(reply.code, reply.message, reply.retry_after_ms)
