"""Which conversation is meant: by its id, by the beginning of it, or as the last one."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from deploy.embedded.client import BusClient
from shared.contracts.conversations import ListRequest
from shared.contracts.stored_turns import ConversationSummary
from shared.errors import InvalidInput, NotFound

LAST = "last"

SHORT = 8
"""Digits of an id that are shown on a terminal."""

_FEWEST = 4
"""Digits that count as the beginning of an id."""

_LOOKED_AT = 200
"""Conversations that a beginning is compared with, the latest ones."""

ConversationName = Annotated[
    str,
    typer.Argument(metavar="CONVERSATION", help="Its id, the first digits of it, or: last."),
]


async def conversation_named(client: BusClient, vault_id: str, name: str) -> UUID:
    """Return the id. Raises NotFound when there is none, InvalidInput when it is no id or stands for several."""
    try:
        return UUID(name)
    except ValueError:
        pass
    if name == LAST:
        found = (await _latest(client, vault_id, 1))[:1]
    elif len(name) >= _FEWEST and all(letter in "0123456789abcdef-" for letter in name):
        found = [each for each in await _latest(client, vault_id, _LOOKED_AT) if _id(each).startswith(name)]
    else:
        raise InvalidInput(f"'{name}' is no conversation: give its id, four or more digits of it, or: {LAST}")
    if not found:
        raise NotFound(f"there is no conversation '{name}' in vault {vault_id}")
    if len(found) > 1:
        raise InvalidInput(f"'{name}' could be any of {', '.join(_id(each) for each in found[:5])}: give more digits")
    return found[0].conversation_id


async def _latest(client: BusClient, vault_id: str, limit: int) -> list[ConversationSummary]:
    return list((await client.conversations.list(vault_id, ListRequest(limit=limit))).conversations)


def _id(conversation: ConversationSummary) -> str:
    return str(conversation.conversation_id)
