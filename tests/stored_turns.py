"""Stored turns as a conversation has them: made without asking anybody."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from services.chat.adapters.postgres.conversations import PostgresConversations
from services.chat.adapters.postgres.rows import answer_columns
from services.chat.record import support_counts
from shared.contracts.chat import SupportLabel
from shared.contracts.stored_turns import ChatTurn, CitedSpan, StoredCitation, StoredMessage
from shared.postgres.pool import Pool
from tests.fakes.found_passages import found
from tests.fakes.in_memory_conversations import InMemoryConversations

NOON = datetime(2026, 5, 31, 12, tzinfo=UTC)


def stored_turn(
    question: str = "How much salt?",
    answer: str = "It takes two percent [1].",
    *,
    titles: tuple[str, ...] = ("Sauerkraut", "Crocks"),
    support: Mapping[int, SupportLabel | None] | None = None,
    **more: Any,
) -> ChatTurn:
    """Return a turn whose answer cites what it cites: each `[n]` stands for its whole line, quoted by default."""
    turn_id = uuid4()
    citations = _citations(answer, titles, support or {})
    fields: dict[str, Any] = {
        "usage": {"input_tokens": 100, "output_tokens": 20},
        "cost": "0.0012",
        "provider": "scripted",
        "model": "script-1",
        "finish_reason": "stop",
        "state": "done",
        "created_at": NOON,
    }
    fields.update(more)
    common = {"turn_id": turn_id, "created_at": fields["created_at"]}
    return ChatTurn(
        turn_id=turn_id,
        question=StoredMessage.model_validate(
            {**common, "message_id": uuid4(), "role": "user", "text": question, "state": "done"}
        ),
        answer=StoredMessage.model_validate(
            {
                **common,
                "message_id": uuid4(),
                "role": "assistant",
                "text": answer,
                "citations": citations,
                "support": support_counts(citations),
                **fields,
            }
        ),
    )


def _citations(
    answer: str, titles: tuple[str, ...], support: Mapping[int, SupportLabel | None]
) -> tuple[StoredCitation, ...]:
    given = found(*((title, f"What {title} says.") for title in titles)).citations
    spans: dict[int, list[CitedSpan]] = {}
    for marker in re.finditer(r"\[(\d+)\]", answer):
        n = int(marker[1])
        start = answer.rfind("\n", 0, marker.start()) + 1
        end = answer.find("\n", marker.end())
        spans.setdefault(n, []).append(
            CitedSpan(
                start=start,
                end=len(answer) if end < 0 else end,
                marker_start=marker.start(),
                marker_end=marker.end(),
                support=support.get(n, "quoted"),
                score=None if support.get(n, "quoted") is None else 1.0,
            )
        )
    return tuple(StoredCitation(**dict(each), spans=tuple(spans.get(each.n, ()))) for each in given)


@dataclass
class MemoryShelf:
    """Conversations in memory, and a way to put turns into them."""

    store: InMemoryConversations

    async def add(self, conversation_id: UUID, turn: ChatTurn) -> ChatTurn:
        """Store a turn."""
        self.store.add_turn(conversation_id, turn)
        return turn


@dataclass
class PostgresShelf:
    """Conversations in Postgres, and a way to put turns into them."""

    pool: Pool
    store: PostgresConversations

    async def add(self, conversation_id: UUID, turn: ChatTurn) -> ChatTurn:
        """Store a turn."""
        vault_id = await self.pool.fetchval(
            "UPDATE conversations SET updated_at = clock_timestamp() WHERE conversation_id = $1 RETURNING vault_id",
            conversation_id,
        )
        for message in (turn.question, turn.answer):
            await self.pool.execute(
                _INSERT,
                message.message_id,
                vault_id,
                *answer_columns(message),
                conversation_id,
                turn.turn_id,
                message.role,
                message.created_at,
            )
        return turn


_INSERT = """
INSERT INTO messages (message_id, vault_id, text, citations, usage, cost, provider, model, finish_reason, refusal,
    support, removed_markers, latency, error_code, error, last_seq, state, conversation_id, turn_id, role, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
"""
