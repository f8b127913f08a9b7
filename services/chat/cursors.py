"""Where a page of a list goes on, as text that a caller hands back unread. Pure."""

from __future__ import annotations

import re
from datetime import datetime
from uuid import UUID

from services.chat.conversation_store import ListPlace
from shared.contracts.stored_turns import ConversationSummary
from shared.errors import InvalidInput

_MOST_PLACE = 2**63 - 1
"""Places are bigint in the database."""


def list_cursor(last: ConversationSummary) -> str:
    """Return the cursor behind a conversation of the list."""
    return f"{last.updated_at.isoformat()}~{last.conversation_id}"


def list_place(cursor: str | None) -> ListPlace | None:
    """Return what a cursor means. Raises InvalidInput."""
    if cursor is None:
        return None
    moment, _, conversation_id = cursor.partition("~")
    try:
        place = ListPlace(datetime.fromisoformat(moment), UUID(conversation_id))
    except ValueError as error:
        raise _no_cursor(cursor) from error
    if place.updated_at.tzinfo is None:
        raise _no_cursor(cursor)
    return place


def turn_cursor(place: int) -> str:
    """Return the cursor behind a turn."""
    return str(place)


def turn_place(cursor: str | None) -> int:
    """Return what a cursor means; 0: the start. Raises InvalidInput."""
    if cursor is None:
        return 0
    if not re.fullmatch(r"[1-9][0-9]{0,18}", cursor) or int(cursor) > _MOST_PLACE:
        raise _no_cursor(cursor)
    return int(cursor)


def _no_cursor(cursor: str) -> InvalidInput:
    return InvalidInput(f"'{cursor[:80]}' is no cursor: take `next_cursor` of the reply before, as it is.")
