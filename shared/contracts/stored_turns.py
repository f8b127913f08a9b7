"""What is stored of a turn: question and answer word for word as streamed, citations, usage and costs beside them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from shared.contracts.chat import (
    FinishReason,
    Money,
    Refusal,
    SupportCounts,
    SupportLabel,
    TokenUsage,
    TurnTimings,
)
from shared.contracts.error import ErrorCode
from shared.contracts.message import Record
from shared.contracts.search import Citation

MessageState = Literal["streaming", "done", "failed", "cancelled", "refused"]


class CitedSpan(Record):
    """One `[n]` in a stored answer; positions as in TurnCitation."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    marker_start: int = Field(ge=0)
    marker_end: int = Field(ge=0)
    support: SupportLabel | None = None
    score: float | None = Field(default=None, ge=0, le=1)


class StoredCitation(Citation):
    """A citation that a turn gave, with the places in the answer that use it (none: it was given, not used)."""

    spans: tuple[CitedSpan, ...] = ()


class StoredMessage(Record):
    """A question, or an answer exactly as it was streamed."""

    message_id: UUID
    turn_id: UUID
    role: Literal["user", "assistant"]
    text: str
    state: MessageState = Field(description="A question is always done.")
    created_at: datetime
    finished_at: datetime | None = None
    citations: tuple[StoredCitation, ...] = ()
    usage: TokenUsage | None = None
    cost: Money | None = Field(default=None, description="Null: no provider was asked, or the price is not known.")
    provider: str | None = None
    model: str | None = None
    finish_reason: FinishReason | None = None
    refusal: Refusal | None = None
    support: SupportCounts | None = None
    removed_markers: int = Field(default=0, ge=0)
    timings_ms: TurnTimings | None = None
    error_code: ErrorCode | None = None
    error: str | None = None
    last_seq: int = Field(default=0, ge=0, description="`seq` of the turn's last event.")
    faithfulness: float | None = Field(default=None, ge=0, le=1, description="Null: not scored yet.")


class ChatTurn(Record):
    """A question and its answer."""

    turn_id: UUID
    question: StoredMessage
    answer: StoredMessage


class ConversationSummary(Record):
    """A conversation without its turns."""

    conversation_id: UUID
    title: str
    created_at: datetime
    updated_at: datetime = Field(description="When its last turn began, or it was renamed.")
    turns: int = Field(ge=0)
    cost: Money = Field(description="Sum of what is known.")
    unpriced: int = Field(default=0, ge=0, description="Answers of a provider whose price is not known.")
