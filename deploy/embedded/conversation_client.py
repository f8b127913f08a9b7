"""Typed requests that read and keep conversations (`citebus.v1.conversation.<op>.<vault>`)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from uuid import UUID

from deploy.embedded.bus_requests import BusRequests, ReplyT
from shared.contracts import conversations as c
from shared.contracts.message import Message
from shared.contracts.saving import SaveTextReply
from shared.contracts.stored_turns import ChatTurn, ConversationSummary
from shared.topology import Topology

TIMEOUT_S = 10.0
"""Reading and writing rows; the service itself gives up earlier."""

SAVE_TIMEOUT_S = 45.0
"""The watcher may have a slow disk, and other pages to write first."""

_GRACE_S = 2.0

_TURNS_A_REPLY = 50


class ConversationClient:
    """Asks for one operation each; errors as BusClient raises them, NotFound for a conversation that is not there."""

    def __init__(self, requests: BusRequests, topology: Topology) -> None:
        self._requests = requests
        self._topology = topology

    async def create(self, vault_id: str, request: c.CreateRequest) -> c.SummaryReply:
        """Begin an empty conversation."""
        return await self._ask("create", vault_id, request, c.SummaryReply)

    async def list(self, vault_id: str, request: c.ListRequest) -> c.ListReply:
        """Return a page of conversations, the one with the latest turn first."""
        return await self._ask("list", vault_id, request, c.ListReply)

    async def get(self, vault_id: str, request: c.GetRequest) -> c.GetReply:
        """Return a page of a conversation's turns, oldest first."""
        return await self._ask("get", vault_id, request, c.GetReply)

    async def whole(self, vault_id: str, conversation_id: UUID) -> tuple[ConversationSummary, tuple[ChatTurn, ...]]:
        """Return a conversation with all its turns, oldest first."""
        turns: list[ChatTurn] = []
        async for reply in self._pages(vault_id, conversation_id):
            turns += reply.turns
            summary = reply.conversation
        return summary, tuple(turns)  # pyright: ignore[reportPossiblyUnboundVariable]  (there is one page at least)

    async def _pages(self, vault_id: str, conversation_id: UUID) -> AsyncGenerator[c.GetReply]:
        request = c.GetRequest(conversation_id=conversation_id, limit=_TURNS_A_REPLY)
        while True:
            reply = await self.get(vault_id, request)
            yield reply
            if reply.next_cursor is None:
                return
            request = request.model_copy(update={"cursor": reply.next_cursor})

    async def rename(self, vault_id: str, request: c.RenameRequest) -> c.SummaryReply:
        """Give a conversation another title."""
        return await self._ask("rename", vault_id, request, c.SummaryReply)

    async def delete(self, vault_id: str, request: c.DeleteRequest) -> c.DeleteReply:
        """Delete a conversation with all that belongs to it."""
        return await self._ask("delete", vault_id, request, c.DeleteReply)

    async def search(self, vault_id: str, request: c.ConversationSearchRequest) -> c.ConversationSearchReply:
        """Find messages by their words."""
        return await self._ask("search", vault_id, request, c.ConversationSearchReply)

    async def export(self, vault_id: str, request: c.ExportRequest) -> c.ExportReply:
        """Return a conversation as one document, however many replies that takes."""
        reply = await self._ask("export", vault_id, request, c.ExportReply)
        texts = [reply.text]
        while reply.next_cursor is not None:
            part = request.model_copy(update={"cursor": reply.next_cursor})
            reply = await self._ask("export", vault_id, part, c.ExportReply)
            texts.append(reply.text)
        return reply.model_copy(update={"text": "".join(texts)})

    async def share(self, vault_id: str, request: c.ShareRequest) -> c.ShareReply:
        """Return a token that lets anyone read the conversation."""
        return await self._ask("share", vault_id, request, c.ShareReply)

    async def unshare(self, vault_id: str, request: c.UnshareRequest) -> c.UnshareReply:
        """Revoke one share of a conversation, or all."""
        return await self._ask("unshare", vault_id, request, c.UnshareReply)

    async def shared(self, vault_id: str, request: c.SharedRequest) -> c.GetReply:
        """Return a page of the conversation that a token gives access to."""
        return await self._ask("shared", vault_id, request, c.GetReply)

    async def costs(self, vault_id: str, request: c.CostsRequest) -> c.CostsReply:
        """Return what was spent by day."""
        return await self._ask("costs", vault_id, request, c.CostsReply)

    async def save(self, vault_id: str, request: c.SaveRequest) -> SaveTextReply:
        """Make a wiki page of a stored answer."""
        return await self._ask("save", vault_id, request, SaveTextReply, SAVE_TIMEOUT_S)

    async def score(self, vault_id: str, request: c.ScoreRequest) -> c.ScoreReply:
        """Score answers that have no score yet."""
        return await self._ask("score", vault_id, request, c.ScoreReply, request.deadline_ms / 1000 + _GRACE_S)

    async def _ask(
        self, operation: str, vault_id: str, request: Message, reply: type[ReplyT], timeout_s: float = TIMEOUT_S
    ) -> ReplyT:
        return await self._requests.ask(self._topology.conversation(operation, vault_id), request, reply, timeout_s)
