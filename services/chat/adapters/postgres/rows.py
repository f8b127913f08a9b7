"""Rows of `messages` as StoredMessage, and back."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import asyncpg

from shared.contracts.stored_turns import StoredMessage

_SAME = (
    "message_id", "turn_id", "role", "text", "state", "created_at", "finished_at", "citations", "usage", "provider",
    "model", "finish_reason", "refusal", "support", "removed_markers", "error_code", "error", "last_seq",
)  # fmt: skip
"""Columns that are fields of the same name."""


def message_of(row: asyncpg.Record, faithfulness: float | None = None) -> StoredMessage:
    """Return the message that a row of `messages` holds; its score stands in another table."""
    cost: Decimal | None = row["cost"]
    fields: dict[str, Any] = {name: row[name] for name in _SAME}
    return StoredMessage.model_validate(
        {
            **fields,
            "timings_ms": row["latency"],
            "cost": None if cost is None else format(cost, "f"),
            "faithfulness": faithfulness,
        }
    )


def answer_columns(message: StoredMessage) -> tuple[object, ...]:
    """Return the values of an answer, in the order of the statements FINISH and REWRITE."""
    body = message.model_dump(mode="json")
    return (
        message.text,
        body["citations"],
        body["usage"],
        None if message.cost is None else Decimal(message.cost),
        message.provider,
        message.model,
        message.finish_reason,
        message.refusal,
        body["support"],
        message.removed_markers,
        body["timings_ms"],
        message.error_code,
        message.error,
        message.last_seq,
        message.state,
    )
