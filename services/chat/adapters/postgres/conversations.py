"""Conversations in Postgres (tables conversations, messages, scores), behind the port ConversationStore.

Expects a pool whose `jsonb` columns are Python values, of a role that may write conversations.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID, uuid4

import asyncpg

from services.chat.adapters.postgres import conversation_statements as statements
from services.chat.adapters.postgres.rows import message_of
from services.chat.conversation_store import UNNAMED, FoundMessage, ListPlace, PlacedTurn, SearchedWords, Span
from services.chat.question import title_of
from shared.contracts.conversations import DayCosts
from shared.contracts.stored_turns import ChatTurn, ConversationSummary
from shared.errors import NotFound
from shared.postgres.pool import Pool, translated

_UNTITLED = " "
"""Stored while a conversation has no title: what no title can be, as blanks around one are taken off."""


class PostgresConversations:
    """Implements ConversationStore."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def create(self, vault_id: str, title: str | None) -> ConversationSummary:
        """See ConversationStore.create."""
        made = uuid4()
        with translated("beginning a conversation"):
            await self._pool.execute(statements.CREATE, made, vault_id, title or _UNTITLED)
        return await self.summary(vault_id, made)

    async def summary(self, vault_id: str, conversation_id: UUID) -> ConversationSummary:
        """See ConversationStore.summary."""
        with translated("reading a conversation"):
            row = await self._pool.fetchrow(statements.SUMMARY, vault_id, conversation_id)
        if row is None:
            raise unknown_conversation(vault_id, conversation_id)
        return _summary(row)

    async def recent(self, vault_id: str, limit: int, after: ListPlace | None) -> Sequence[ConversationSummary]:
        """See ConversationStore.recent."""
        place = (None, None) if after is None else (after.updated_at, after.conversation_id)
        with translated("listing conversations"):
            rows = await self._pool.fetch(statements.LIST, vault_id, limit, *place)
        return [_summary(row) for row in rows]

    async def rename(self, vault_id: str, conversation_id: UUID, title: str) -> ConversationSummary:
        """See ConversationStore.rename."""
        with translated("renaming a conversation"):
            renamed = await self._pool.fetchval(statements.RENAME, vault_id, conversation_id, title)
        if renamed is None:
            raise unknown_conversation(vault_id, conversation_id)
        return await self.summary(vault_id, conversation_id)

    async def delete(self, vault_id: str, conversation_id: UUID) -> Sequence[UUID]:
        """See ConversationStore.delete."""
        with translated("deleting a conversation"):
            async with self._pool.acquire() as connection, connection.transaction():
                if not await connection.fetch(statements.LOCK, vault_id, conversation_id):
                    raise unknown_conversation(vault_id, conversation_id)
                running = await connection.fetch(statements.STREAMING, conversation_id)
                await connection.execute(statements.DELETE, conversation_id)
        return [row["turn_id"] for row in running]

    async def turns(self, vault_id: str, conversation_id: UUID, after: int, limit: int) -> Sequence[PlacedTurn]:
        """See ConversationStore.turns."""
        with translated("reading turns"):
            rows = await self._pool.fetch(statements.TURNS, vault_id, conversation_id, after, limit)
            if not rows and not await self._pool.fetchval(statements.EXISTS, vault_id, conversation_id):
                raise unknown_conversation(vault_id, conversation_id)
        pairs = zip(rows[::2], rows[1::2], strict=True)
        return [PlacedTurn(answer["place"], answer["number"], _turn(question, answer)) for question, answer in pairs]

    async def turn(self, vault_id: str, turn_id: UUID) -> tuple[UUID, ChatTurn]:
        """See ConversationStore.turn."""
        with translated("reading a turn"):
            rows = await self._pool.fetch(statements.TURN, vault_id, turn_id)
        if not rows:
            raise NotFound(f"There is no turn {turn_id} in the vault '{vault_id}'.")
        question, answer = rows
        return answer["conversation_id"], _turn(question, answer)

    async def search(self, vault_id: str, words: SearchedWords, limit: int) -> Sequence[FoundMessage]:
        """See ConversationStore.search."""
        ahead, _, last = words.text.rpartition(" ")
        pattern = f"%{_escaped(words.text)}%" if words.unspaced else None
        with translated("searching conversations"):
            rows = await self._pool.fetch(statements.SEARCH, vault_id, ahead, last, pattern, limit)
        return [FoundMessage(row["conversation_id"], _title(row), message_of(row), row["score"]) for row in rows]

    async def costs(self, vault_id: str, span: Span, conversation_id: UUID | None) -> Sequence[DayCosts]:
        """See ConversationStore.costs."""
        with translated("summing costs"):
            rows = await self._pool.fetch(statements.COSTS, vault_id, span.first, span.last, conversation_id)
        return [DayCosts.model_validate({**row, "cost": money(row["cost"])}) for row in rows]


def unknown_conversation(vault_id: str, conversation_id: UUID) -> NotFound:
    """Return the error for a conversation that this vault does not have."""
    return NotFound(f"There is no conversation {conversation_id} in the vault '{vault_id}'.")


def money(amount: Decimal) -> str:
    """Return an amount as contracts carry it: no exponent."""
    return format(amount, "f")


def _summary(row: asyncpg.Record) -> ConversationSummary:
    return ConversationSummary(
        conversation_id=row["conversation_id"],
        title=_title(row),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        turns=row["turns"],
        cost=money(row["cost"]),
        unpriced=row["unpriced"],
    )


def _title(row: asyncpg.Record) -> str:
    if row["named"]:
        return row["title"]
    return title_of(row["title"]) if row["title"] else UNNAMED


def _turn(question: asyncpg.Record, answer: asyncpg.Record) -> ChatTurn:
    return ChatTurn(
        turn_id=answer["turn_id"],
        question=message_of(question),
        answer=message_of(answer, answer["faithfulness"]),
    )


def _escaped(text: str) -> str:
    """Return text as a pattern of LIKE that means itself."""
    return text.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_")
