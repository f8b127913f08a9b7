"""Requests that read and keep conversations (`citebus.v1.conversation.<op>.<vault>`)."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from shared.contracts.chat import Money
from shared.contracts.message import Message, Record
from shared.contracts.stored_turns import ChatTurn, ConversationSummary

MAX_TITLE = 200  # characters of a conversation's title


class CreateRequest(Message):
    """Begins an empty conversation."""

    type: Literal["citebus.conversation.create.request.v1"] = "citebus.conversation.create.request.v1"
    title: str | None = Field(default=None, min_length=1, max_length=MAX_TITLE, description="Null: the first question.")


class RenameRequest(Message):
    """Gives a conversation another title."""

    type: Literal["citebus.conversation.rename.request.v1"] = "citebus.conversation.rename.request.v1"
    conversation_id: UUID
    title: str = Field(min_length=1, max_length=MAX_TITLE)


class SummaryReply(Message):
    """The conversation as it is now; answers `create` and `rename`."""

    type: Literal["citebus.conversation.summary.reply.v1"] = "citebus.conversation.summary.reply.v1"
    conversation: ConversationSummary


class ListRequest(Message):
    """Lists conversations, the one with the latest turn first."""

    type: Literal["citebus.conversation.list.request.v1"] = "citebus.conversation.list.request.v1"
    limit: int = Field(default=50, ge=1, le=200)
    cursor: str | None = Field(default=None, max_length=200, description="`next_cursor` of the reply before.")


class ListReply(Message):
    """A page of conversations."""

    type: Literal["citebus.conversation.list.reply.v1"] = "citebus.conversation.list.reply.v1"
    conversations: tuple[ConversationSummary, ...]
    next_cursor: str | None = Field(default=None, description="Null: there are no more.")


class GetRequest(Message):
    """Reads a conversation's turns, oldest first."""

    type: Literal["citebus.conversation.get.request.v1"] = "citebus.conversation.get.request.v1"
    conversation_id: UUID
    limit: int = Field(default=20, ge=1, le=100, description="Turns; fewer come when the reply would be too large.")
    cursor: str | None = Field(default=None, max_length=200, description="`next_cursor` of the reply before.")


class GetReply(Message):
    """A page of a conversation; also what a share token shows."""

    type: Literal["citebus.conversation.get.reply.v1"] = "citebus.conversation.get.reply.v1"
    conversation: ConversationSummary
    turns: tuple[ChatTurn, ...]
    next_cursor: str | None = Field(default=None, description="Null: there are no more.")


class DeleteRequest(Message):
    """Deletes a conversation with all its messages, scores and shares. A turn that runs in it is ended."""

    type: Literal["citebus.conversation.delete.request.v1"] = "citebus.conversation.delete.request.v1"
    conversation_id: UUID


class DeleteReply(Message):
    """The conversation is gone."""

    type: Literal["citebus.conversation.delete.reply.v1"] = "citebus.conversation.delete.reply.v1"
    conversation_id: UUID


class ConversationSearchRequest(Message):
    """Finds messages by their words: all of them must stand in one message, the last one at least as a beginning."""

    type: Literal["citebus.conversation.search.request.v1"] = "citebus.conversation.search.request.v1"
    query: str = Field(min_length=1, max_length=1000, description="Words, not only blanks.")
    limit: int = Field(default=20, ge=1, le=100)


class ExcerptMark(Record):
    """A word that was found, in characters of the excerpt, half-open."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)


class MessageHit(Record):
    """A message that was found."""

    conversation_id: UUID
    title: str
    message_id: UUID
    turn_id: UUID
    role: Literal["user", "assistant"]
    excerpt: str = Field(description="Around the words found, plain text.")
    marks: tuple[ExcerptMark, ...] = Field(default=(), description="Where the words stand in the excerpt, in order.")
    score: float = Field(description="Higher is better; comparable within one reply only.")
    created_at: datetime


class ConversationSearchReply(Message):
    """Messages, best first."""

    type: Literal["citebus.conversation.search.reply.v1"] = "citebus.conversation.search.reply.v1"
    hits: tuple[MessageHit, ...]


class ExportRequest(Message):
    """Writes a conversation down as one document."""

    type: Literal["citebus.conversation.export.request.v1"] = "citebus.conversation.export.request.v1"
    conversation_id: UUID
    format: Literal["markdown", "json"] = Field(
        default="markdown", description="`markdown`: citations as footnotes. `json`: a list of ChatTurn with a head."
    )
    cursor: str | None = Field(default=None, max_length=200, description="`next_cursor` of the part before.")


class ExportReply(Message):
    """The document, or as much of it as fits into a message: the texts of all parts joined are the document."""

    type: Literal["citebus.conversation.export.reply.v1"] = "citebus.conversation.export.reply.v1"
    conversation_id: UUID
    format: Literal["markdown", "json"]
    file_name: str
    text: str
    next_cursor: str | None = Field(default=None, description="Null: this is the end of the document.")


class ShareRequest(Message):
    """Makes a token with which anyone may read the conversation, and nothing else."""

    type: Literal["citebus.conversation.share.request.v1"] = "citebus.conversation.share.request.v1"
    conversation_id: UUID


class ShareReply(Message):
    """The token: told once, stored as a hash only."""

    type: Literal["citebus.conversation.share.reply.v1"] = "citebus.conversation.share.reply.v1"
    conversation_id: UUID
    share_id: UUID = Field(description="Names the share without giving access: to revoke it.")
    token: str = Field(min_length=32)


class UnshareRequest(Message):
    """Revokes one share of a conversation, or all of them."""

    type: Literal["citebus.conversation.unshare.request.v1"] = "citebus.conversation.unshare.request.v1"
    conversation_id: UUID
    share_id: UUID | None = Field(default=None, description="Null: every share.")


class UnshareReply(Message):
    """The shares no longer give access."""

    type: Literal["citebus.conversation.unshare.reply.v1"] = "citebus.conversation.unshare.reply.v1"
    conversation_id: UUID
    revoked: int = Field(ge=0, description="Shares that were valid until now.")


class SharedRequest(Message):
    """Reads a shared conversation; answered by GetReply. An unknown and a revoked token are not told apart."""

    type: Literal["citebus.conversation.shared.request.v1"] = "citebus.conversation.shared.request.v1"
    token: str = Field(min_length=1, max_length=200)
    limit: int = Field(default=20, ge=1, le=100, description="Turns; fewer come when the reply would be too large.")
    cursor: str | None = Field(default=None, max_length=200)


class CostsRequest(Message):
    """Sums costs by day (UTC), both days included."""

    type: Literal["citebus.conversation.costs.request.v1"] = "citebus.conversation.costs.request.v1"
    first_day: date
    last_day: date = Field(description="At most 366 days from the first one.")
    conversation_id: UUID | None = Field(default=None, description="Null: of all conversations.")


class DayCosts(Record):
    """What the answers of one day took."""

    day: date
    answers: int = Field(ge=0, description="Answers for which a provider was asked.")
    input_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)
    cost: Money = Field(description="Sum of what is known.")
    unpriced: int = Field(default=0, ge=0, description="Answers of a provider whose price is not known.")


class CostsReply(Message):
    """Days on which something was asked, in order."""

    type: Literal["citebus.conversation.costs.reply.v1"] = "citebus.conversation.costs.reply.v1"
    days: tuple[DayCosts, ...]


class SaveRequest(Message):
    """Makes a wiki page of a stored answer, its citations as footnotes; answered by SaveTextReply."""

    type: Literal["citebus.conversation.save.request.v1"] = "citebus.conversation.save.request.v1"
    turn_id: UUID
    title: str | None = Field(default=None, min_length=1, max_length=MAX_TITLE, description="Null: the question.")
    path: str | None = Field(default=None, min_length=1, max_length=512, description="As in SaveTextRequest.")
    overwrite: bool = Field(default=False, description="As in SaveTextRequest.")


class ScoreRequest(Message):
    """Scores answers without a score, with `judge` also those without a judge's; ask again while something remains."""

    type: Literal["citebus.conversation.score.request.v1"] = "citebus.conversation.score.request.v1"
    conversation_id: UUID | None = Field(default=None, description="Null: of all conversations.")
    limit: int = Field(default=20, ge=1, le=500, description="Answers of this request.")
    judge: bool = Field(default=True, description="Ask the provider of the operation `judge`, if that is a model.")
    deadline_ms: int = Field(default=60_000, ge=100, le=600_000, description="Past it the reply says what was done.")


class MessageScore(Record):
    """How faithful an answer is to its passages: the mean over its cited sentences, 0 when it cites nothing."""

    message_id: UUID
    conversation_id: UUID
    faithfulness: float = Field(ge=0, le=1)
    judge: str = Field(description="`support`: the check without a model; else provider and model.")


class ScoreReply(Message):
    """What this request scored."""

    type: Literal["citebus.conversation.score.reply.v1"] = "citebus.conversation.score.reply.v1"
    scores: tuple[MessageScore, ...]
    mean: float | None = Field(default=None, ge=0, le=1, description="Of these; null when there are none.")
    remaining: int = Field(ge=0, description="Answers still without a score.")
    stopped: str | None = Field(default=None, description="Why it ended before its limit; null: it did not.")
