"""Conversations, shares and scores in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

from services.chat import conversation_store as c
from services.chat.conversation_store import MOST_SHARES, UNNAMED, FoundMessage, PlacedTurn
from services.chat.excerpts import words_of
from services.chat.faithfulness import SUPPORT, Score, ToScore, Wanted
from services.chat.question import title_of
from shared.contracts.conversations import DayCosts
from shared.contracts.search import Passage
from shared.contracts.stored_turns import ChatTurn, ConversationSummary, StoredMessage
from shared.errors import InvalidInput, NotFound


@dataclass
class _Conversation:
    vault_id: str
    title: str | None
    created_at: datetime
    updated_at: datetime
    turns: list[ChatTurn] = field(default_factory=list[ChatTurn])


@dataclass
class _Share:
    share_id: UUID
    vault_id: str
    conversation_id: UUID
    token_hash: str
    valid: bool = True


@dataclass
class InMemoryConversations:
    """Implements ConversationStore, ShareStore and ScoreStore; `add_turn` is what answering would do."""

    conversations: dict[UUID, _Conversation] = field(default_factory=dict[UUID, _Conversation])
    shares: dict[UUID, _Share] = field(default_factory=dict[UUID, _Share])
    scores: dict[UUID, Score] = field(default_factory=dict[UUID, Score])
    texts: dict[UUID, str] = field(default_factory=dict[UUID, str])
    """Of passages that are still as they were cited."""
    _now: datetime = datetime(2026, 5, 31, tzinfo=UTC)

    def add_turn(self, conversation_id: UUID, turn: ChatTurn) -> None:
        """Store a turn."""
        self.conversations[conversation_id].turns.append(turn)
        self.conversations[conversation_id].updated_at = self._tick()

    async def create(self, vault_id: str, title: str | None) -> ConversationSummary:
        """See ConversationStore.create."""
        made, now = uuid4(), self._tick()
        self.conversations[made] = _Conversation(vault_id, title, now, now)
        return await self.summary(vault_id, made)

    async def summary(self, vault_id: str, conversation_id: UUID) -> ConversationSummary:
        """See ConversationStore.summary."""
        found = self._of(vault_id, conversation_id)
        answers = [turn.answer for turn in found.turns]
        return ConversationSummary(
            conversation_id=conversation_id,
            title=_title(found),
            created_at=found.created_at,
            updated_at=found.updated_at,
            turns=len(answers),
            cost=_cost(answers),
            unpriced=_unpriced(answers),
        )

    async def recent(self, vault_id: str, limit: int, after: c.ListPlace | None) -> Sequence[ConversationSummary]:
        """See ConversationStore.recent."""
        ids = [each for each, found in self.conversations.items() if found.vault_id == vault_id]
        summaries = sorted([await self.summary(vault_id, each) for each in ids], key=_order)
        if after is not None:
            place = (-after.updated_at.timestamp(), after.conversation_id.int)
            summaries = [each for each in summaries if _order(each) > place]
        return summaries[:limit]

    async def rename(self, vault_id: str, conversation_id: UUID, title: str) -> ConversationSummary:
        """See ConversationStore.rename."""
        found = self._of(vault_id, conversation_id)
        found.title, found.updated_at = title, self._tick()
        return await self.summary(vault_id, conversation_id)

    async def delete(self, vault_id: str, conversation_id: UUID) -> Sequence[UUID]:
        """See ConversationStore.delete."""
        found = self._of(vault_id, conversation_id)
        del self.conversations[conversation_id]
        self.shares = {key: each for key, each in self.shares.items() if each.conversation_id != conversation_id}
        return [turn.turn_id for turn in found.turns if turn.answer.state == "streaming"]

    async def turns(self, vault_id: str, conversation_id: UUID, after: int, limit: int) -> Sequence[PlacedTurn]:
        """See ConversationStore.turns."""
        found = self._of(vault_id, conversation_id).turns
        return [PlacedTurn(n, n, self._scored(turn)) for n, turn in enumerate(found, start=1) if n > after][:limit]

    async def turn(self, vault_id: str, turn_id: UUID) -> tuple[UUID, ChatTurn]:
        """See ConversationStore.turn."""
        for conversation_id, found in self.conversations.items():
            for turn in found.turns:
                if found.vault_id == vault_id and turn.turn_id == turn_id:
                    return conversation_id, self._scored(turn)
        raise NotFound(f"There is no turn {turn_id}.")

    async def search(self, vault_id: str, words: c.SearchedWords, limit: int) -> Sequence[FoundMessage]:
        """See ConversationStore.search; the score is how often the words stand in the text."""
        hits: list[FoundMessage] = []
        for conversation_id, found in self.conversations.items():
            for message in (each for turn in found.turns for each in (turn.question, turn.answer)):
                score = _score(message.text, words)
                if found.vault_id == vault_id and score:
                    hits.append(FoundMessage(conversation_id, _title(found), message, score))
        return sorted(hits, key=lambda hit: (-hit.score, -hit.message.created_at.timestamp()))[:limit]

    async def costs(self, vault_id: str, span: c.Span, conversation_id: UUID | None) -> Sequence[DayCosts]:
        """See ConversationStore.costs."""
        answers = [
            turn.answer
            for key, found in self.conversations.items()
            if found.vault_id == vault_id and conversation_id in {None, key}
            for turn in found.turns
            if turn.answer.usage is not None
        ]
        days = sorted({each.created_at.astimezone(UTC).date() for each in answers})
        return [
            _day([each for each in answers if each.created_at.astimezone(UTC).date() == day])
            for day in days
            if span.first <= day <= span.last
        ]

    async def share(self, vault_id: str, conversation_id: UUID, share_id: UUID, token_hash: str) -> None:
        """See ShareStore.share."""
        self._of(vault_id, conversation_id)
        if len([each for each in self._shares(conversation_id) if each.valid]) >= MOST_SHARES:
            raise InvalidInput(f"The conversation has {MOST_SHARES} shares already: revoke one.")
        self.shares[share_id] = _Share(share_id, vault_id, conversation_id, token_hash)

    async def unshare(self, vault_id: str, conversation_id: UUID, share_id: UUID | None) -> int:
        """See ShareStore.unshare."""
        self._of(vault_id, conversation_id)
        chosen = [each for each in self._shares(conversation_id) if share_id in {None, each.share_id}]
        if share_id is not None and not chosen:
            raise NotFound(f"There is no share {share_id}.")
        valid = [each for each in chosen if each.valid]
        for each in valid:
            each.valid = False
        return len(valid)

    async def shared(self, vault_id: str, token_hash: str) -> UUID:
        """See ShareStore.shared."""
        for each in self.shares.values():
            if each.valid and (each.vault_id, each.token_hash) == (vault_id, token_hash):
                return each.conversation_id
        raise NotFound("The share does not exist.")

    async def to_score(self, vault_id: str, wanted: Wanted, after: int, limit: int) -> Sequence[ToScore]:
        """See ScoreStore.to_score."""
        found = [
            (turn.answer.created_at, conversation_id, turn.answer)
            for conversation_id, each in self.conversations.items()
            if each.vault_id == vault_id and wanted.conversation_id in {None, conversation_id}
            for turn in each.turns
        ]
        found.sort(key=lambda entry: entry[0])
        placed = [ToScore(key, place, answer) for place, (_, key, answer) in enumerate(found, start=1)]
        return [each for each in placed if each.place > after and self._is_wanted(each.answer, wanted)][:limit]

    async def count(self, vault_id: str, wanted: Wanted) -> int:
        """See ScoreStore.count."""
        return len(await self.to_score(vault_id, wanted, 0, 1_000_000))

    async def keep(self, message_id: UUID, score: Score) -> None:
        """See ScoreStore.keep."""
        self.scores[message_id] = score

    async def passages(self, vault_id: str, passages: Collection[Passage]) -> Mapping[UUID, str]:
        """See ScoreStore.passages."""
        return {each.chunk_id: self.texts[each.chunk_id] for each in passages if each.chunk_id in self.texts}

    def _is_wanted(self, answer: StoredMessage, wanted: Wanted) -> bool:
        spans = [span for citation in answer.citations for span in citation.spans]
        if answer.state != "done" or any(span.support is None for span in spans):
            return False
        score = self.scores.get(answer.message_id)
        if score is None or score.evaluator < wanted.evaluator:
            return True
        return wanted.judged and score.judge == SUPPORT and "judge_problem" not in score.details

    def _scored(self, turn: ChatTurn) -> ChatTurn:
        score = self.scores.get(turn.answer.message_id)
        answer = turn.answer.model_copy(update={"faithfulness": None if score is None else score.faithfulness})
        return turn.model_copy(update={"answer": answer})

    def _shares(self, conversation_id: UUID) -> list[_Share]:
        return [each for each in self.shares.values() if each.conversation_id == conversation_id]

    def _of(self, vault_id: str, conversation_id: UUID) -> _Conversation:
        found = self.conversations.get(conversation_id)
        if found is None or found.vault_id != vault_id:
            raise NotFound(f"There is no conversation {conversation_id}.")
        return found

    def _tick(self) -> datetime:
        self._now += timedelta(seconds=1)
        return self._now


def _order(summary: ConversationSummary) -> tuple[float, int]:
    return -summary.updated_at.timestamp(), summary.conversation_id.int


def _title(found: _Conversation) -> str:
    if found.title is not None:
        return found.title
    return title_of(found.turns[0].question.text) if found.turns else UNNAMED


def _score(text: str, words: c.SearchedWords) -> float:
    *ahead, last = words_of(words.text)
    tokens = words_of(text)
    whole = all(word in tokens for word in ahead) and any(token.startswith(last) for token in tokens)
    return 1.0 if whole or (words.unspaced and words.text in text) else 0.0


def _cost(answers: Sequence[StoredMessage]) -> str:
    return format(sum((Decimal(each.cost) for each in answers if each.cost is not None), Decimal(0)), "f")


def _unpriced(answers: Sequence[StoredMessage]) -> int:
    return len([each for each in answers if each.usage is not None and each.cost is None])


def _day(answers: Sequence[StoredMessage]) -> DayCosts:
    used = [each.usage for each in answers if each.usage is not None]
    return DayCosts(
        day=answers[0].created_at.astimezone(UTC).date(),
        answers=len(answers),
        input_tokens=sum(each.input_tokens for each in used),
        output_tokens=sum(each.output_tokens for each in used),
        cost=_cost(answers),
        unpriced=_unpriced(answers),
    )
