"""What answering asks of the outside: the search, the store of turns, the stream of their events, and what judges text.

The provider's port is `services.chat.provider`. Everything is safe to call concurrently.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol
from uuid import UUID

from services.chat.provider import ChatProvider, Usage
from shared.contracts.chat import SupportLabel, TurnEnd, TurnEvent
from shared.contracts.search import SearchReply, SearchRequest
from shared.contracts.stored_turns import MessageState, StoredMessage

Clock = Callable[[], float]
"""Seconds of a clock that only goes forward."""


class Search(Protocol):
    """Finds passages, over the bus."""

    async def search(self, vault_id: str, request: SearchRequest) -> SearchReply:
        """Return the context. Raises the error that the search replied, Unavailable, DeadlineExceeded."""
        ...


class GroundingPages(Protocol):
    """The vault's own words about itself."""

    async def grounding(self, vault_id: str) -> Sequence[str]:
        """Return the texts of `purpose.md` and `overview.md`, those that exist.

        Raises NotFound (no such vault), Unavailable.
        """
        ...


@dataclass(frozen=True, slots=True)
class Support:
    """How a sentence stands to the passages that it cites."""

    label: SupportLabel
    score: float
    """0 to 1."""


class SupportCheck(Protocol):
    """Compares a cited sentence with its passages, without any model. Pure, and fast: it runs between two deltas."""

    def check(self, sentence: str, passages: Sequence[str]) -> Support:
        """Return the support of `sentence` (its markers taken out) by the texts of all passages under one number."""
        ...


class EvidenceGate(Protocol):
    """Tells whether passages bear on a question at all, by a threshold that was calibrated."""

    async def enough(self, vault_id: str, question: str, context: SearchReply) -> bool:
        """Return whether an answer should be tried. `context` has at least one citation."""
        ...


class Providers(Protocol):
    """The configured providers."""

    def choose(self, operation: str, name: str | None) -> ChatProvider:
        """Return the provider `name`, or the one that the configuration gives the operation.

        Raises InvalidInput when either is unknown or not set up (no key), before anything is asked.
        """
        ...


class Prices(Protocol):
    """The dated price table."""

    def cost(self, provider: str, model: str, usage: Usage) -> Decimal | None:
        """Return US dollars at today's price; None when it is not known."""
        ...


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A question to store."""

    vault_id: str
    turn_id: UUID
    conversation_id: UUID | None
    """None: a new conversation begins."""
    question: str


@dataclass(frozen=True, slots=True)
class PastTurn:
    """An earlier turn of the conversation."""

    question: str
    answer: str
    state: MessageState


@dataclass(frozen=True, slots=True)
class BegunTurn:
    """A turn whose question is stored and whose answer may stream."""

    vault_id: str
    turn_id: UUID
    conversation_id: UUID
    question_id: UUID
    message_id: UUID
    history: tuple[PastTurn, ...] = ()
    """Oldest first, at most the latest 200."""
    repeated: bool = False
    """The same turn had begun before: somebody answers it already, or has."""


@dataclass(frozen=True, slots=True)
class AbandonedTurn:
    """An answer that seems to stream, but nobody writes."""

    vault_id: str
    conversation_id: UUID
    message: StoredMessage


@dataclass(frozen=True, slots=True)
class UnannouncedTurn:
    """A turn that is ended in the store, whose last event may be missing in the stream."""

    vault_id: str
    message: StoredMessage
    ending: TurnEnd


Finish = Literal["stored", "ended", "gone"]
"""`stored`: the caller ended the turn and tells it. `ended`: another did. `gone`: the conversation was deleted."""


class TurnStore(Protocol):
    """Keeps turns; every method raises Unavailable."""

    async def begin(self, turn: NewTurn) -> BegunTurn:
        """Store the question and an empty answer that streams.

        Raises InvalidInput (an answer is being written in this conversation; the turn id belongs to another question),
        NotFound (no such conversation in this vault).
        """
        ...

    async def keep_alive(self, message_ids: Collection[UUID]) -> set[UUID]:
        """Note that their process lives; return those that still stream. The others were ended by somebody else."""
        ...

    async def finish(self, vault_id: str, message: StoredMessage, ending: TurnEnd) -> Finish:
        """Store the answer that streams, and its last event, to be announced."""
        ...

    async def announced(self, message_id: UUID) -> None:
        """Note that the last event is in the stream."""
        ...

    async def rewrite(self, vault_id: str, message: StoredMessage) -> None:
        """Store the answer anew as it was streamed, while it is ended and not announced."""
        ...

    async def abandoned(self, silent_s: float, limit: int) -> list[AbandonedTurn]:
        """Return answers that stream without a sign of life for `silent_s`, the longest silent first."""
        ...

    async def take_over(self, vault_id: str, message: StoredMessage, ending: TurnEnd, silent_s: float) -> bool:
        """As `finish`, but only while the answer has shown no sign of life for `silent_s`."""
        ...

    async def unannounced(self, settled_s: float, limit: int) -> list[UnannouncedTurn]:
        """Return turns that ended more than `settled_s` ago and were not announced since."""
        ...


@dataclass(frozen=True, slots=True)
class StreamedTurn:
    """What the stream holds of a turn."""

    events: tuple[TurnEvent, ...]
    position: int
    """To write on from: changes with every event of the turn; 0 when there is none."""


class TurnStream(Protocol):
    """The stream of events. Every method raises Unavailable."""

    async def append(self, vault_id: str, event: TurnEvent, position: int) -> int | None:
        """Store the event behind `position` and return the new position.

        None, and nothing stored, when the turn's newest event is another one: somebody else writes this turn.
        """
        ...

    async def read(self, vault_id: str, turn_id: UUID) -> StreamedTurn:
        """Return all events of a turn that are still kept, in order."""
        ...

    def place(self, vault_id: str, turn_id: UUID) -> tuple[str, str]:
        """Return the names of the stream and of the subject that an asker reads."""
        ...
