"""What can be done with stored conversations: the use cases behind `conversation.<op>.<vault>`.

Everything is bound to the vault of the subject; a conversation of another vault is not found. Replies stay below what
a message may hold: a page ends early, and says where it goes on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID, uuid4

from services.chat.clean_text import cleaned
from services.chat.conversation_store import (
    ConversationStore,
    FoundMessage,
    PlacedTurn,
    SearchedWords,
    ShareStore,
    Span,
)
from services.chat.cursors import list_cursor, list_place, turn_cursor, turn_place
from services.chat.excerpts import excerpt, is_unspaced, words_of
from services.chat.exporting import Document, document, file_name
from shared.contracts import conversations as messages
from shared.contracts.stored_turns import ConversationSummary
from shared.errors import InvalidInput, TooLarge

_BATCH = 10
"""Turns that are read at once: the largest are a few hundred kilobytes each."""

_LONGEST_SPAN_DAYS = 366


@dataclass(frozen=True, slots=True)
class Effects:
    """What conversing does beyond its stores."""

    cancel: Callable[[str, UUID], Awaitable[None]]
    """Ends a turn, wherever it runs; vault and turn."""
    new_token: Callable[[], str]
    """Returns a secret of 128 bits or more, in characters that an address may hold."""


class Conversing:
    """Reads and keeps conversations."""

    def __init__(self, store: ConversationStore, shares: ShareStore, effects: Effects, max_reply_bytes: int) -> None:
        """`max_reply_bytes`: what a reply's turns or text may take."""
        self._store = store
        self._shares = shares
        self._effects = effects
        self._max_bytes = max_reply_bytes

    async def create(self, vault_id: str, request: messages.CreateRequest) -> ConversationSummary:
        """Begin an empty conversation. Raises InvalidInput (a blank title), Unavailable, as everything here does."""
        title = None if request.title is None else _clean_title(request.title)
        return await self._store.create(vault_id, title)

    async def rename(self, vault_id: str, request: messages.RenameRequest) -> ConversationSummary:
        """Give a conversation another title. Raises NotFound, InvalidInput (a blank title)."""
        return await self._store.rename(vault_id, request.conversation_id, _clean_title(request.title))

    async def listing(self, vault_id: str, request: messages.ListRequest) -> messages.ListReply:
        """List conversations. Raises InvalidInput (no cursor of ours)."""
        found = await self._store.recent(vault_id, request.limit + 1, list_place(request.cursor))
        page = tuple(found[: request.limit])
        return messages.ListReply(
            conversations=page, next_cursor=list_cursor(page[-1]) if len(found) > request.limit else None
        )

    async def get(self, vault_id: str, request: messages.GetRequest) -> messages.GetReply:
        """Read turns. Raises NotFound, InvalidInput (no cursor of ours), TooLarge (a turn larger than a message)."""
        summary = await self._store.summary(vault_id, request.conversation_id)
        placed, more = await self._read(vault_id, summary, turn_place(request.cursor), request.limit, _turn_bytes)
        return messages.GetReply(
            conversation=summary,
            turns=tuple(each.turn for each in placed),
            next_cursor=turn_cursor(placed[-1].place) if more else None,
        )

    async def delete(self, vault_id: str, request: messages.DeleteRequest) -> messages.DeleteReply:
        """Delete a conversation, then end the turn that ran in it. Raises NotFound."""
        for turn_id in await self._store.delete(vault_id, request.conversation_id):
            await self._effects.cancel(vault_id, turn_id)
        return messages.DeleteReply(conversation_id=request.conversation_id)

    async def search(
        self, vault_id: str, request: messages.ConversationSearchRequest
    ) -> messages.ConversationSearchReply:
        """Find messages. Raises InvalidInput when the query has no word."""
        query = " ".join(cleaned(request.query).split())
        if not words_of(query):
            raise InvalidInput("The query has no word to search for.")
        found = await self._store.search(vault_id, SearchedWords(query, is_unspaced(query)), request.limit)
        return messages.ConversationSearchReply(hits=tuple(_hit(each, query) for each in found))

    async def export(self, vault_id: str, request: messages.ExportRequest) -> messages.ExportReply:
        """Write the document, or its next part. Raises NotFound, InvalidInput (no cursor of ours), TooLarge."""
        summary = await self._store.summary(vault_id, request.conversation_id)
        writer, after = document(request.format), turn_place(request.cursor)
        placed, more = await self._read(vault_id, summary, after, None, lambda each: _text_bytes(writer, each))
        head = "" if after else writer.head(summary)
        tail = "" if more else writer.tail
        return messages.ExportReply(
            conversation_id=request.conversation_id,
            format=request.format,
            file_name=file_name(summary, request.format),
            text=head + "".join(map(writer.turn, placed)) + tail,
            next_cursor=turn_cursor(placed[-1].place) if more else None,
        )

    async def share(self, vault_id: str, request: messages.ShareRequest) -> messages.ShareReply:
        """Make a token; only its hash is kept. Raises NotFound, InvalidInput (too many shares)."""
        share_id, token = uuid4(), self._effects.new_token()
        await self._shares.share(vault_id, request.conversation_id, share_id, _hash(token))
        return messages.ShareReply(conversation_id=request.conversation_id, share_id=share_id, token=token)

    async def unshare(self, vault_id: str, request: messages.UnshareRequest) -> messages.UnshareReply:
        """Revoke shares. Raises NotFound (the conversation, or the share)."""
        revoked = await self._shares.unshare(vault_id, request.conversation_id, request.share_id)
        return messages.UnshareReply(conversation_id=request.conversation_id, revoked=revoked)

    async def shared(self, vault_id: str, request: messages.SharedRequest) -> messages.GetReply:
        """Read what a token opens. Raises NotFound, else as `get`."""
        conversation_id = await self._shares.shared(vault_id, _hash(request.token))
        asked = messages.GetRequest(conversation_id=conversation_id, limit=request.limit, cursor=request.cursor)
        return await self.get(vault_id, asked)

    async def costs(self, vault_id: str, request: messages.CostsRequest) -> messages.CostsReply:
        """Sum costs by day. Raises InvalidInput for days in the wrong order or too many, NotFound."""
        days = (request.last_day - request.first_day).days
        if not 0 <= days <= _LONGEST_SPAN_DAYS:
            raise InvalidInput(f"From {request.first_day} to {request.last_day} are {days} days: 0 to 366 are summed.")
        if request.conversation_id is not None:
            await self._store.summary(vault_id, request.conversation_id)
        span = Span(request.first_day, request.last_day)
        return messages.CostsReply(days=tuple(await self._store.costs(vault_id, span, request.conversation_id)))

    async def _read(
        self,
        vault_id: str,
        summary: ConversationSummary,
        after: int,
        limit: int | None,
        size: Callable[[PlacedTurn], int],
    ) -> tuple[list[PlacedTurn], bool]:
        """Return the turns behind a place that fit into a reply, at most `limit`, and whether there are more."""
        read: list[PlacedTurn] = []
        left = self._max_bytes
        while batch := await self._store.turns(vault_id, summary.conversation_id, after, _BATCH):
            for placed in batch:
                left -= size(placed)
                if left < 0 or (limit is not None and len(read) == limit):
                    self._check_some(read, summary)
                    return read, True
                read.append(placed)
                after = placed.place
        return read, False

    def _check_some(self, read: list[PlacedTurn], summary: ConversationSummary) -> None:
        if not read:
            raise TooLarge(
                f"A turn of the conversation {summary.conversation_id} is larger than a message of this server may be "
                f"({self._max_bytes:,} bytes): raise the server's max_payload."
            )


def _hit(found: FoundMessage, query: str) -> messages.MessageHit:
    part, message = excerpt(found.message.text, query), found.message
    return messages.MessageHit(
        conversation_id=found.conversation_id,
        title=found.title,
        message_id=message.message_id,
        turn_id=message.turn_id,
        role=message.role,
        excerpt=part.text,
        marks=part.marks,
        score=found.score,
        created_at=message.created_at,
    )


def _clean_title(title: str) -> str:
    """Return a title in one line. Raises InvalidInput when nothing is left."""
    line = " ".join(cleaned(title).split())
    if not line:
        raise InvalidInput("The title holds nothing but blanks.")
    return line


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _turn_bytes(placed: PlacedTurn) -> int:
    return len(placed.turn.model_dump_json(exclude_none=True).encode()) + 1


def _text_bytes(writer: Document, placed: PlacedTurn) -> int:
    """Return what a turn of the document takes as a JSON string."""
    return len(json.dumps(writer.turn(placed), ensure_ascii=False).encode())
