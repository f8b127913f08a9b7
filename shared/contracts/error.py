"""The reply of every request that failed."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from shared.contracts.message import Message

ErrorCode = Literal["invalid", "not_found", "too_large", "unavailable", "deadline", "internal"]


class ErrorReply(Message):
    """Says what went wrong and what to do; also in the headers Nats-Service-Error-Code and Nats-Service-Error."""

    type: Literal["citebus.error.v1"] = "citebus.error.v1"
    code: ErrorCode
    message: str
    retry_after_ms: int | None = Field(default=None, ge=0)
