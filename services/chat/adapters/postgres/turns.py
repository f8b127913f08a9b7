"""Turns in Postgres (tables conversations, messages), behind the port TurnStore.

One answer at a time per conversation is the database's word (index `one_streaming_answer`), and so is who ends a turn:
every ending is an update of a row that still streams. Expects a pool whose `jsonb` columns are Python values, of a role
that may write conversations.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Generator
from contextlib import contextmanager
from uuid import UUID, uuid4

import asyncpg

from services.chat.adapters.postgres import statements
from services.chat.adapters.postgres.rows import answer_columns, message_of
from services.chat.ports import AbandonedTurn, BegunTurn, Finish, NewTurn, PastTurn, UnannouncedTurn
from services.chat.question import title_of
from shared.contracts.chat import TurnEnd, turn_event
from shared.contracts.stored_turns import StoredMessage
from shared.errors import InvalidInput, NotFound, Unavailable
from shared.postgres.pool import Connection, Pool, translated

_MOST_HISTORY = 200
"""Turns: more than any window holds."""


class PostgresTurns:
    """Implements TurnStore."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def begin(self, turn: NewTurn) -> BegunTurn:
        """See TurnStore.begin."""
        with translated("beginning a turn"), _refusals():
            async with self._pool.acquire() as connection, connection.transaction():
                return await self._begin(connection, turn)

    async def _begin(self, connection: Connection, turn: NewTurn) -> BegunTurn:
        if (known := await self._same(connection, turn)) is not None:
            return known
        conversation_id = await self._conversation(connection, turn)
        past = await connection.fetch(statements.HISTORY, conversation_id, _MOST_HISTORY)
        question_id, message_id = uuid4(), uuid4()
        await connection.execute(
            statements.NEW_MESSAGES,
            question_id,
            message_id,
            conversation_id,
            turn.vault_id,
            turn.turn_id,
            turn.question,
        )
        history = tuple(PastTurn(row["question"], row["answer"], row["state"]) for row in reversed(past))
        return BegunTurn(turn.vault_id, turn.turn_id, conversation_id, question_id, message_id, history)

    async def _same(self, connection: Connection, turn: NewTurn) -> BegunTurn | None:
        row = await connection.fetchrow(statements.SAME_TURN, turn.vault_id, turn.turn_id)
        if row is None:
            return None
        if row["question"] != turn.question or turn.conversation_id not in {None, row["conversation_id"]}:
            raise InvalidInput(f"The turn {turn.turn_id} belongs to another question: choose a new id for each turn.")
        return BegunTurn(
            turn.vault_id, turn.turn_id, row["conversation_id"], row["question_id"], row["message_id"], repeated=True
        )

    async def _conversation(self, connection: Connection, turn: NewTurn) -> UUID:
        """Return the turn's conversation, locked against another turn that begins; made when it is a new one."""
        if turn.conversation_id is None:
            made = uuid4()
            await connection.execute(statements.NEW_CONVERSATION, made, turn.vault_id, title_of(turn.question))
            return made
        if await connection.fetchval(statements.LOCK_CONVERSATION, turn.conversation_id, turn.vault_id) is None:
            raise NotFound(f"There is no conversation {turn.conversation_id} in the vault '{turn.vault_id}'.")
        await connection.execute(statements.TOUCH_CONVERSATION, turn.conversation_id)
        return turn.conversation_id

    async def keep_alive(self, message_ids: Collection[UUID]) -> set[UUID]:
        """See TurnStore.keep_alive."""
        with translated("keeping turns alive"):
            rows = await self._pool.fetch(statements.KEEP_ALIVE, list(message_ids))
        return {row["message_id"] for row in rows}

    async def finish(self, vault_id: str, message: StoredMessage, ending: TurnEnd) -> Finish:
        """See TurnStore.finish."""
        if await self._end(vault_id, message, ending, None):
            return "stored"
        with translated("looking for an answer"):
            known = await self._pool.fetchval(statements.EXISTS, message.message_id)
        return "ended" if known else "gone"

    async def take_over(self, vault_id: str, message: StoredMessage, ending: TurnEnd, silent_s: float) -> bool:
        """See TurnStore.take_over."""
        return await self._end(vault_id, message, ending, silent_s)

    async def _end(self, vault_id: str, message: StoredMessage, ending: TurnEnd, silent_s: float | None) -> bool:
        columns = answer_columns(message)
        event = json.loads(ending.to_json())
        with translated("storing an answer"):
            done = await self._pool.fetchval(statements.FINISH, message.message_id, vault_id, *columns, event, silent_s)
        return done is not None

    async def rewrite(self, vault_id: str, message: StoredMessage) -> None:
        """See TurnStore.rewrite."""
        with translated("storing an answer anew"):
            await self._pool.execute(statements.REWRITE, message.message_id, vault_id, *answer_columns(message))

    async def announced(self, message_id: UUID) -> None:
        """See TurnStore.announced."""
        with translated("noting that a turn was told"):
            await self._pool.execute(statements.ANNOUNCED, message_id)

    async def abandoned(self, silent_s: float, limit: int) -> list[AbandonedTurn]:
        """See TurnStore.abandoned."""
        with translated("looking for abandoned turns"):
            rows = await self._pool.fetch(statements.ABANDONED, silent_s, limit)
        return [AbandonedTurn(row["vault_id"], row["conversation_id"], message_of(row)) for row in rows]

    async def unannounced(self, settled_s: float, limit: int) -> list[UnannouncedTurn]:
        """See TurnStore.unannounced."""
        with translated("looking for turns that were not told"):
            rows = await self._pool.fetch(statements.UNANNOUNCED, settled_s, limit)
        return [UnannouncedTurn(row["vault_id"], message_of(row), _ending(row["ending"])) for row in rows]


def _ending(stored: object) -> TurnEnd:
    event = turn_event(json.dumps(stored))
    if not isinstance(event, TurnEnd):
        raise Unavailable(f"A stored turn ends with {event.type}: the database is of another version.")
    return event


@contextmanager
def _refusals() -> Generator[None]:
    """Say in words what the database refuses."""
    try:
        yield
    except asyncpg.UniqueViolationError as error:
        if error.constraint_name == "one_streaming_answer":
            said = "A question of this conversation is being answered: wait for its end, or cancel it."
            raise Unavailable(said, retry_after_s=1.0) from error
        raise Unavailable("The same turn began at this moment: ask again.", retry_after_s=0.1) from error
