"""The subjects `conversation.<op>.<vault>`: which use case answers which request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from services.chat.conversing import Conversing
from services.chat.faithfulness import Faithfulness
from services.chat.wiki import SavingAnswers
from shared.contracts import conversations as messages
from shared.contracts.message import Message
from shared.service import SLACK_S, Endpoint
from shared.topology import QUEUE_CHAT, Topology

_SAVE_S = 40.0
"""Longer than what the watcher is waited for."""

_READ_S = 15.0
"""Longest work on reading many or large messages."""

Handler = Callable[[str, Any], Awaitable[Message]]


@dataclass(frozen=True, slots=True)
class ConversationHandlers:
    """Handlers of all operations; the vault comes from the subject, so the broker guards it."""

    conversing: Conversing
    saving: SavingAnswers
    faithfulness: Faithfulness

    async def on_create(self, vault_id: str, request: messages.CreateRequest) -> messages.SummaryReply:
        """Begin a conversation."""
        return messages.SummaryReply(conversation=await self.conversing.create(vault_id, request))

    async def on_rename(self, vault_id: str, request: messages.RenameRequest) -> messages.SummaryReply:
        """Give a conversation another title."""
        return messages.SummaryReply(conversation=await self.conversing.rename(vault_id, request))


def conversation_endpoints(topology: Topology, handlers: ConversationHandlers) -> list[Endpoint[Any]]:
    """Return the endpoints of every operation."""
    conversing = handlers.conversing
    table: tuple[tuple[str, type[Message], Handler], ...] = (
        ("create", messages.CreateRequest, handlers.on_create),
        ("list", messages.ListRequest, conversing.listing),
        ("get", messages.GetRequest, conversing.get),
        ("rename", messages.RenameRequest, handlers.on_rename),
        ("delete", messages.DeleteRequest, conversing.delete),
        ("search", messages.ConversationSearchRequest, conversing.search),
        ("export", messages.ExportRequest, conversing.export),
        ("share", messages.ShareRequest, conversing.share),
        ("unshare", messages.UnshareRequest, conversing.unshare),
        ("shared", messages.SharedRequest, conversing.shared),
        ("costs", messages.CostsRequest, conversing.costs),
        ("save", messages.SaveRequest, handlers.saving.save),
        ("score", messages.ScoreRequest, handlers.faithfulness.score),
    )
    return [
        Endpoint(
            f"conversation-{operation}", topology.conversation(operation, "*"), request, handler, QUEUE_CHAT, _limit_s
        )
        for operation, request, handler in table
    ]


def _limit_s(request: Message) -> float:
    if isinstance(request, messages.ScoreRequest):
        return request.deadline_ms / 1000 + 4 * SLACK_S  # to count what is left
    return _SAVE_S if isinstance(request, messages.SaveRequest) else _READ_S
