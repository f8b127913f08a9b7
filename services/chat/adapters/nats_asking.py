"""Asks another service over the bus, and turns its error reply into the error that it names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from pydantic import ValidationError

from shared.bus import translated
from shared.contracts.error import ErrorReply
from shared.contracts.message import Message
from shared.errors import (
    CitebusError,
    DeadlineExceeded,
    InvalidInput,
    NotFound,
    RetryableError,
    TooLarge,
    Unavailable,
)
from shared.service import ERROR_CODE_HEADER

_RETRYABLE: dict[str, type[RetryableError]] = {"unavailable": Unavailable, "deadline": DeadlineExceeded}
_PERMANENT: dict[str, type[CitebusError]] = {"invalid": InvalidInput, "too_large": TooLarge, "not_found": NotFound}

ReplyT = TypeVar("ReplyT", bound=Message)


@dataclass(frozen=True, slots=True)
class Asked:
    """Who is asked, in words for people."""

    doing: str
    service: str
    """As in `The retrieval service`."""
    nobody: str
    """What to say when nobody listens."""
    timeout_s: float = 5.0


async def ask(client: Client, subject: str, request: Message, reply: type[ReplyT], asked: Asked) -> ReplyT:
    """Return the reply. Raises the error that the service replied, or Unavailable."""
    try:
        with translated(asked.doing):
            message = await client.request(subject, request.to_json(), timeout=asked.timeout_s)
    except Unavailable as error:
        if isinstance(error.__cause__, nats.errors.NoRespondersError):
            raise Unavailable(asked.nobody) from error
        raise
    try:
        return _parsed(message, reply)
    except ValidationError as error:
        raise Unavailable(f"{asked.service} is of another version: its reply can't be read.") from error


def _parsed(message: Msg, reply: type[ReplyT]) -> ReplyT:
    if (message.headers or {}).get(ERROR_CODE_HEADER):
        raise _error(ErrorReply.model_validate_json(message.data))
    return reply.model_validate_json(message.data)


def _error(reply: ErrorReply) -> CitebusError:
    if reply.code in _RETRYABLE:
        retry_after_s = None if reply.retry_after_ms is None else reply.retry_after_ms / 1000
        return _RETRYABLE[reply.code](reply.message, retry_after_s=retry_after_s)
    return _PERMANENT.get(reply.code, CitebusError)(reply.message)
