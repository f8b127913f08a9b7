"""Turns and their stream in memory, with a search and a vault: everything that the chat engine asks of the outside."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID, uuid4

from services.chat.ports import (
    AbandonedTurn,
    BegunTurn,
    Finish,
    NewTurn,
    PastTurn,
    StreamedTurn,
    UnannouncedTurn,
)
from shared.contracts.chat import TurnEnd, TurnEvent
from shared.contracts.search import SearchReply, SearchRequest
from shared.contracts.stored_turns import StoredMessage
from shared.errors import CitebusError, InvalidInput, NotFound, Unavailable


@dataclass
class _Row:
    turn: NewTurn
    conversation_id: UUID
    question_id: UUID
    message: StoredMessage
    ending: TurnEnd | None = None
    silent_s: float = 0.0


@dataclass
class InMemoryTurns:
    """Implements TurnStore; `silence` makes a turn look abandoned."""

    rows: dict[UUID, _Row] = field(default_factory=dict[UUID, _Row])
    conversations: set[UUID] = field(default_factory=set[UUID])
    error: CitebusError | None = None

    async def begin(self, turn: NewTurn) -> BegunTurn:
        """See TurnStore.begin."""
        for row in self.rows.values():
            if row.turn.turn_id == turn.turn_id and row.turn.vault_id == turn.vault_id:
                if row.turn.question != turn.question:
                    raise InvalidInput("The turn belongs to another question.")
                ids = (row.conversation_id, row.question_id, row.message.message_id)
                return BegunTurn(turn.vault_id, turn.turn_id, *ids, repeated=True)
        if turn.conversation_id is not None and turn.conversation_id not in self.conversations:
            raise NotFound("There is no conversation like that.")
        conversation_id = turn.conversation_id or uuid4()
        self.conversations.add(conversation_id)
        earlier = [row for row in self.rows.values() if row.conversation_id == conversation_id]
        if any(row.message.state == "streaming" for row in earlier):
            raise Unavailable("A question of this conversation is being answered.")
        message = StoredMessage(
            message_id=uuid4(),
            turn_id=turn.turn_id,
            role="assistant",
            text="",
            state="streaming",
            created_at=datetime.now(UTC),
        )
        self.rows[message.message_id] = row = _Row(turn, conversation_id, uuid4(), message)
        history = tuple(PastTurn(past.turn.question, past.message.text, past.message.state) for past in earlier)
        return BegunTurn(
            turn.vault_id, turn.turn_id, conversation_id, row.question_id, message.message_id, history=history
        )

    async def keep_alive(self, message_ids: Collection[UUID]) -> set[UUID]:
        """See TurnStore.keep_alive."""
        return {each for each in message_ids if each in self.rows and self.rows[each].message.state == "streaming"}

    async def finish(self, vault_id: str, message: StoredMessage, ending: TurnEnd) -> Finish:
        """See TurnStore.finish."""
        del vault_id
        if self.error is not None:
            raise self.error
        row = self.rows.get(message.message_id)
        if row is None:
            return "gone"
        if row.message.state != "streaming":
            return "ended"
        row.message, row.ending = message, ending
        return "stored"

    async def announced(self, message_id: UUID) -> None:
        """See TurnStore.announced."""
        self.rows[message_id].ending = None

    async def rewrite(self, vault_id: str, message: StoredMessage) -> None:
        """See TurnStore.rewrite."""
        del vault_id
        self.rows[message.message_id].message = message

    async def abandoned(self, silent_s: float, limit: int) -> list[AbandonedTurn]:
        """See TurnStore.abandoned."""
        silent = [row for row in self.rows.values() if row.message.state == "streaming" and row.silent_s > silent_s]
        return [AbandonedTurn(row.turn.vault_id, row.conversation_id, row.message) for row in silent[:limit]]

    async def take_over(self, vault_id: str, message: StoredMessage, ending: TurnEnd, silent_s: float) -> bool:
        """See TurnStore.take_over."""
        if self.rows[message.message_id].silent_s <= silent_s:
            return False
        return await self.finish(vault_id, message, ending) == "stored"

    async def unannounced(self, settled_s: float, limit: int) -> list[UnannouncedTurn]:
        """See TurnStore.unannounced; every one counts as settled."""
        del settled_s
        waiting = [row for row in self.rows.values() if row.ending is not None]
        return [UnannouncedTurn(row.turn.vault_id, row.message, row.ending) for row in waiting[:limit] if row.ending]


@dataclass
class InMemoryTurnStream:
    """Implements TurnStream. `refuse_after` events of a turn somebody else is the writer."""

    events: dict[UUID, list[TurnEvent]] = field(default_factory=dict[UUID, list[TurnEvent]])
    error_at: dict[int, CitebusError] = field(default_factory=dict[int, CitebusError])
    """`seq` to what is raised instead of storing it, once."""

    async def append(self, vault_id: str, event: TurnEvent, position: int) -> int | None:
        """See TurnStream.append."""
        del vault_id
        if (error := self.error_at.pop(event.seq, None)) is not None:
            raise error
        stored = self.events.setdefault(event.turn_id, [])
        if len(stored) != position:
            return None
        stored.append(event)
        return len(stored)

    async def read(self, vault_id: str, turn_id: UUID) -> StreamedTurn:
        """See TurnStream.read."""
        del vault_id
        stored = self.events.get(turn_id, [])
        return StreamedTurn(tuple(stored), len(stored))

    def place(self, vault_id: str, turn_id: UUID) -> tuple[str, str]:
        """See TurnStream.place."""
        return "TURNS", f"turn.{vault_id}.{turn_id}"


@dataclass
class FixedSearch:
    """Finds always the same, and knows what it was asked."""

    reply: SearchReply | CitebusError
    asked: list[SearchRequest] = field(default_factory=list[SearchRequest])

    async def search(self, vault_id: str, request: SearchRequest) -> SearchReply:
        """See Search.search."""
        del vault_id
        self.asked.append(request)
        if isinstance(self.reply, CitebusError):
            raise self.reply
        return self.reply.model_copy(update={"query": request.query})


@dataclass(frozen=True)
class OneVault:
    """The grounding pages of the vault `kitchen`."""

    pages: tuple[str, ...] = ()

    async def grounding(self, vault_id: str) -> tuple[str, ...]:
        """See GroundingPages.grounding."""
        if vault_id != "kitchen":
            raise NotFound(f"There is no vault '{vault_id}'.")
        return self.pages
