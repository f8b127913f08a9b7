"""Asking: the request, whether it was accepted, and the events of the turn (stream TURNS).

A turn's events are numbered from 1 without a gap and end with exactly one of TurnDone, TurnFailed and TurnCancelled.
Read them from the stream, not as plain messages: on the bare subject one may also hear what the stream refuses, from a
process that had been frozen. The deltas joined are the answer, character for character as it is stored. Positions in
the answer count characters (Unicode code points), from 0, half-open.
"""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, JsonValue, StringConstraints, TypeAdapter

from shared.contracts.error import ErrorCode
from shared.contracts.message import Message, Record
from shared.contracts.search import Citation

SupportLabel = Literal["quoted", "supported", "weak", "unsupported"]
"""How a cited sentence stands to its passages: word for word, in substance, in part, not at all."""

FinishReason = Literal["stop", "length", "filtered", "repetition", "refused"]
"""`stop`: the answer is whole. `length`: a limit of the provider or of citebus cut it. `filtered`: the provider kept
back the rest. `repetition`: it began to repeat itself and was stopped. `refused`: there was nothing to answer from."""

Refusal = Literal["nothing_found", "weak_evidence"]
"""Why no provider was asked: no passage at all, or none that bears on the question."""

Money = Annotated[str, StringConstraints(pattern=r"^\d+(\.\d+)?$")]
"""US dollars as a decimal number in a string, so that no reader rounds it."""


class ChatRequest(Message):
    """A question to one vault (`citebus.v1.chat.<vault>`). Its answer comes as events on the turn's subject."""

    type: Literal["citebus.chat.request.v1"] = "citebus.chat.request.v1"
    question: str = Field(
        min_length=1,
        max_length=8000,
        description="1 to 8,000 characters, not only blanks. Control characters but tabs and line ends are removed.",
    )
    turn_id: UUID = Field(
        description="Chosen by the asker, who may subscribe to the turn before asking. The same request again is "
        "accepted again and answered once."
    )
    conversation_id: UUID | None = Field(default=None, description="Null: a new conversation begins.")
    k: int = Field(default=8, ge=1, le=50, description="Chunks to seed the search from.")
    context_window: int = Field(
        default=32_768,
        ge=0,
        le=10_000_000,
        description="Tokens of the window to fill: 60 % history, 20 % passages, 5 % grounding, 15 % answer.",
    )
    expansion_depth: int = Field(default=2, ge=0, le=2, description="Steps over the page graph; 0: none.")
    filters: dict[str, JsonValue] = Field(default_factory=dict, description="As in a search request.")
    profile: str | None = Field(default=None, description="Name of a retrieval profile; null: the default.")
    operation: str = Field(
        default="chat",
        pattern=r"^[a-z][a-z0-9_-]{0,31}$",
        description="What is done; the configuration says which provider, model and limits it has.",
    )
    provider: str | None = Field(
        default=None, pattern=r"^[a-z][a-z0-9_-]{0,31}$", description="Name of a configured provider to use instead."
    )
    stream: bool = Field(default=True, description="False: the answer comes as one delta, when it is whole.")
    deadline_ms: int = Field(
        default=120_000, ge=100, le=600_000, description="For the whole turn; past it the turn is cancelled."
    )


class ChatAccepted(Message):
    """The question is stored, and the turn runs. Read its events from `stream`, filtered by `subject`."""

    type: Literal["citebus.chat.accepted.v1"] = "citebus.chat.accepted.v1"
    turn_id: UUID
    conversation_id: UUID
    question_id: UUID = Field(description="The message that holds the question.")
    message_id: UUID = Field(description="The message that will hold the answer.")
    stream: str
    subject: str
    first_seq: int = Field(default=1, ge=1, description="`seq` of the turn's first event.")


class CancelRequest(Message):
    """Ends a turn (`citebus.v1.cancel.<vault>.<turn_id>`). Published; the answer to it is the turn's last event."""

    type: Literal["citebus.cancel.request.v1"] = "citebus.cancel.request.v1"


class TokenUsage(Record):
    """What the provider took."""

    input_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)
    counted: bool = Field(default=False, description="Estimated by citebus, because the provider did not say.")


class TurnTimings(Record):
    """Milliseconds per phase; 0 for one that did not happen."""

    search: float = Field(default=0.0, description="The search, with its way over the bus.")
    evidence: float = Field(default=0.0, description="Judging whether the passages bear on the question.")
    prompt: float = Field(default=0.0, description="Building the prompt.")
    first_token: float = Field(default=0.0, description="From asking the provider until its first words.")
    provider: float = Field(default=0.0, description="From asking the provider until its end, first words included.")
    support: float = Field(default=0.0, description="Comparing cited sentences with their passages.")
    total: float = Field(default=0.0, description="From accepting the question until the last event.")


class SupportCounts(Record):
    """Citations of an answer by how they are supported."""

    quoted: int = Field(default=0, ge=0)
    supported: int = Field(default=0, ge=0)
    weak: int = Field(default=0, ge=0)
    unsupported: int = Field(default=0, ge=0)


class CitedPage(Record):
    """A page that the answer cites, in short."""

    n: int = Field(ge=1)
    id: UUID
    title: str = Field(min_length=1)
    slug: str = Field(min_length=1)


class TurnEvent(Message):
    """What all events of a turn say."""

    turn_id: UUID
    seq: int = Field(ge=1, description="From 1, without a gap.")


class TurnSources(TurnEvent):
    """What `[n]` in this turn's answer may refer to. Comes before any delta, once; not when the turn is refused."""

    type: Literal["citebus.turn.sources.v1"] = "citebus.turn.sources.v1"
    query: str = Field(description="What was searched for: the question, made standalone.")
    citations: tuple[Citation, ...]
    data_version: int
    retriever: str
    truncated: bool = Field(default=False, description="The search's deadline cut a phase short.")
    degraded: str | None = Field(default=None, description="Why the search did not run whole.")


class TurnDelta(TurnEvent):
    """The next piece of the answer."""

    type: Literal["citebus.turn.delta.v1"] = "citebus.turn.delta.v1"
    text: str = Field(min_length=1)
    start: int = Field(ge=0, description="Where the piece begins in the answer.")


class TurnCitation(TurnEvent):
    """One `[n]` in the answer so far."""

    type: Literal["citebus.turn.citation.v1"] = "citebus.turn.citation.v1"
    n: int = Field(ge=1)
    start: int = Field(ge=0, description="First character of the sentence that is cited for.")
    end: int = Field(ge=0, description="Behind that sentence, its markers not included.")
    marker_start: int = Field(ge=0, description="Where `[n]` stands.")
    marker_end: int = Field(ge=0)
    support: SupportLabel | None = Field(default=None, description="Null: not checked.")
    score: float | None = Field(default=None, ge=0, le=1, description="Share of the sentence found in the passages.")


class TurnEnd(TurnEvent):
    """What all last events say."""

    conversation_id: UUID
    message_id: UUID = Field(description="The stored answer, whole or in part.")
    characters: int = Field(default=0, ge=0, description="Length of the answer.")
    usage: TokenUsage | None = Field(default=None, description="Null: no provider was asked.")
    cost: Money | None = Field(default=None, description="Null: the price is not known.")
    provider: str | None = None
    model: str | None = Field(default=None, description="As the provider names what answered.")
    removed_markers: int = Field(default=0, ge=0, description="Numbers that were never given, removed from the text.")
    timings_ms: TurnTimings = TurnTimings()


class TurnDone(TurnEnd):
    """The answer is complete and stored."""

    type: Literal["citebus.turn.done.v1"] = "citebus.turn.done.v1"
    citations: tuple[CitedPage, ...] = Field(description="Pages that the answer cites, by number.")
    finish_reason: FinishReason
    refused: bool = False
    refusal: Refusal | None = None
    support: SupportCounts = SupportCounts()


class TurnFailed(TurnEnd):
    """The turn ended by an error; what was streamed is stored."""

    type: Literal["citebus.turn.failed.v1"] = "citebus.turn.failed.v1"
    code: ErrorCode
    message: str
    retry_after_ms: int | None = Field(default=None, ge=0)


class TurnCancelled(TurnEnd):
    """The turn ended early; what was streamed is stored."""

    type: Literal["citebus.turn.cancelled.v1"] = "citebus.turn.cancelled.v1"
    reason: Literal["asked", "deadline", "shutdown"]


AnyTurnEvent = Annotated[
    TurnSources | TurnDelta | TurnCitation | TurnDone | TurnFailed | TurnCancelled, Field(discriminator="type")
]

_EVENTS: TypeAdapter[AnyTurnEvent] = TypeAdapter(AnyTurnEvent)


def turn_event(data: bytes | str) -> AnyTurnEvent:
    """Read an event from the turn's subject. Raises pydantic.ValidationError."""
    return _EVENTS.validate_json(data)
