"""The port of stored conversations, and what it passes. Everything is bound to one vault: another's is not found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol
from uuid import UUID

from shared.contracts.conversations import DayCosts
from shared.contracts.stored_turns import ChatTurn, ConversationSummary, StoredMessage

UNNAMED = "New conversation"
"""The title of a conversation that was begun without one, until its first question gives it."""


@dataclass(frozen=True, slots=True)
class ListPlace:
    """Behind which conversation a page of the list begins."""

    updated_at: datetime
    conversation_id: UUID


@dataclass(frozen=True, slots=True)
class PlacedTurn:
    """A turn and its place in the conversation."""

    place: int
    """Grows from turn to turn; not without gaps."""
    number: int
    """From 1."""
    turn: ChatTurn


@dataclass(frozen=True, slots=True)
class SearchedWords:
    """What is searched for."""

    text: str
    """As it was asked, blanks around it taken off; not empty."""
    unspaced: bool = False
    """It is of a script without blanks between words: found anywhere in a text, not only at the beginning of words."""


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A message that has the words."""

    conversation_id: UUID
    title: str
    message: StoredMessage
    score: float


@dataclass(frozen=True, slots=True)
class Span:
    """Days, both included."""

    first: date
    last: date


class ConversationStore(Protocol):
    """Keeps conversations. Every method raises Unavailable; those that name a conversation raise NotFound."""

    async def create(self, vault_id: str, title: str | None) -> ConversationSummary:
        """Begin an empty conversation; None: its first question will be its title."""
        ...

    async def summary(self, vault_id: str, conversation_id: UUID) -> ConversationSummary:
        """Return a conversation without its turns."""
        ...

    async def recent(self, vault_id: str, limit: int, after: ListPlace | None) -> Sequence[ConversationSummary]:
        """Return conversations, the one with the latest turn first, by id where two are as late."""
        ...

    async def rename(self, vault_id: str, conversation_id: UUID, title: str) -> ConversationSummary:
        """Give a conversation another title."""
        ...

    async def delete(self, vault_id: str, conversation_id: UUID) -> Sequence[UUID]:
        """Delete a conversation with all that belongs to it; return the turns that were being answered."""
        ...

    async def turns(self, vault_id: str, conversation_id: UUID, after: int, limit: int) -> Sequence[PlacedTurn]:
        """Return at most `limit` turns behind the place `after` (0: from the start), in order; empty at the end."""
        ...

    async def turn(self, vault_id: str, turn_id: UUID) -> tuple[UUID, ChatTurn]:
        """Return a turn and its conversation. Raises NotFound."""
        ...

    async def search(self, vault_id: str, words: SearchedWords, limit: int) -> Sequence[FoundMessage]:
        """Return messages that have all words, the last one as a beginning; best first, newest first among equals."""
        ...

    async def costs(self, vault_id: str, span: Span, conversation_id: UUID | None) -> Sequence[DayCosts]:
        """Return the sums of each day (UTC) on which a provider was asked, in order; no such conversation: none."""
        ...


class ShareStore(Protocol):
    """Keeps who may read a conversation, by hashes of tokens. Every method raises Unavailable."""

    async def share(self, vault_id: str, conversation_id: UUID, share_id: UUID, token_hash: str) -> None:
        """Let the token's bearer read. Raises NotFound, InvalidInput when the conversation has too many shares."""
        ...

    async def unshare(self, vault_id: str, conversation_id: UUID, share_id: UUID | None) -> int:
        """Revoke one share, or all; return how many were valid. Raises NotFound (the conversation, or the share)."""
        ...

    async def shared(self, vault_id: str, token_hash: str) -> UUID:
        """Return the conversation that a token opens. Raises NotFound: unknown and revoked are not told apart."""
        ...


MOST_SHARES = 100
"""Valid shares of one conversation."""
