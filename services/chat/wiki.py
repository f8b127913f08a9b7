"""Saving a stored answer as a page of the wiki: the use case behind `conversation.save.<vault>`."""

from __future__ import annotations

from typing import Protocol

from services.chat.conversation_store import ConversationStore
from services.chat.exporting_page import page_request
from shared.contracts.conversations import SaveRequest
from shared.contracts.saving import SaveTextReply, SaveTextRequest


class Wiki(Protocol):
    """The vault's wiki, which another service writes."""

    async def save(self, vault_id: str, request: SaveTextRequest) -> SaveTextReply:
        """Have a page written. Raises InvalidInput, TooLarge, Unavailable (nobody watches the vault)."""
        ...


class SavingAnswers:
    """Makes pages of stored answers."""

    def __init__(self, store: ConversationStore, wiki: Wiki) -> None:
        self._store = store
        self._wiki = wiki

    async def save(self, vault_id: str, request: SaveRequest) -> SaveTextReply:
        """Save the turn's answer. Raises NotFound (no such turn in this vault), and as Wiki.save does."""
        conversation_id, turn = await self._store.turn(vault_id, request.turn_id)
        return await self._wiki.save(vault_id, page_request(conversation_id, turn, request))
