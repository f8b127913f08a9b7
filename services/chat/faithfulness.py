"""Scores how faithful stored answers are to their passages, one score per answer; what has a score is skipped.

An answer's score is the mean over its cited sentences: 1 for one that its passages back, 0.5 in part, 0 not; an answer
that cites nothing scores 0, as nothing backs it. Without a judge the weights come from the support check that was made
when the answer was written; with one (the provider of the operation `judge`, if that is a model) from its verdicts on
the passages as they were. Where a cited passage has changed since, or the judge's answer can't be read, the support
check decides. Each score is stored by itself, so a run that breaks off has lost nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from services.chat.judging import JudgedSentence, Judgement, judge_prompt, judged
from services.chat.ports import Providers
from services.chat.provider import ChatProvider
from shared.cancelling import end_if_cancelled
from shared.contracts.chat import SupportLabel
from shared.contracts.conversations import MessageScore, ScoreReply, ScoreRequest
from shared.contracts.search import Passage
from shared.contracts.stored_turns import StoredMessage
from shared.errors import InvalidInput, RetryableError

EVALUATOR = 1
"""Version of the method: answers scored by an earlier one are scored again."""

SUPPORT = "support"
"""Name of the judge that needs no model."""

_BATCH = 20
_WEIGHTS: Mapping[SupportLabel | None, float] = {"quoted": 1.0, "supported": 1.0, "weak": 0.5}


@dataclass(frozen=True, slots=True)
class ToScore:
    """An answer without a score."""

    conversation_id: UUID
    place: int
    """Grows with the time at which the question was asked."""
    answer: StoredMessage


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which answers are to be scored."""

    conversation_id: UUID | None
    evaluator: int
    judged: bool
    """Those that only the support check has scored, too."""


@dataclass(frozen=True, slots=True)
class Score:
    """What is stored."""

    faithfulness: float
    judge: str
    details: Mapping[str, object] = field(default_factory=dict[str, object])
    evaluator: int = EVALUATOR


class ScoreStore(Protocol):
    """Keeps scores. Every method raises Unavailable."""

    async def to_score(self, vault_id: str, wanted: Wanted, after: int, limit: int) -> Sequence[ToScore]:
        """Return whole answers without a score behind a place (0: the start), the oldest first."""
        ...

    async def count(self, vault_id: str, wanted: Wanted) -> int:
        """Return how many there are."""
        ...

    async def keep(self, message_id: UUID, score: Score) -> None:
        """Store the message's only score; a message that is gone has none."""
        ...

    async def passages(self, vault_id: str, passages: Collection[Passage]) -> Mapping[UUID, str]:
        """Return the texts of passages that still say what was cited, by chunk id."""
        ...


class Faithfulness:
    """Scores the answers of a vault."""

    def __init__(self, store: ScoreStore, providers: Providers) -> None:
        self._store = store
        self._providers = providers

    async def score(self, vault_id: str, request: ScoreRequest) -> ScoreReply:
        """Score answers until none is left, the limit, the deadline, or a judge that can't be asked now.

        Raises InvalidInput (the judge is not set up), Unavailable.
        """
        judge = self._judge() if request.judge else None
        wanted = Wanted(request.conversation_id, EVALUATOR, judge is not None)
        scores: list[MessageScore] = []
        stopped = None
        scope = asyncio.timeout(request.deadline_ms / 1000)
        try:
            async with scope:
                await self._score_all(vault_id, wanted, request.limit, judge, scores)
        except TimeoutError:
            if not scope.expired():
                raise
            stopped = "The time of the request is over."
        except RetryableError as error:
            stopped = str(error)
        mean = sum(each.faithfulness for each in scores) / len(scores) if scores else None
        remaining = await self._store.count(vault_id, wanted)
        return ScoreReply(scores=tuple(scores), mean=mean, remaining=remaining, stopped=stopped)

    def _judge(self) -> ChatProvider | None:
        """Return the model that judges; None when the operation has none: what extracts can't judge."""
        provider = self._providers.choose("judge", None)
        return None if provider.name == "extractive" else provider

    async def _score_all(
        self, vault_id: str, wanted: Wanted, limit: int, judge: ChatProvider | None, scores: list[MessageScore]
    ) -> None:
        after = 0
        while batch := await self._store.to_score(vault_id, wanted, after, min(_BATCH, limit - len(scores))):
            for each in batch:
                end_if_cancelled()
                score = await self._scored(vault_id, each.answer, judge)
                await self._store.keep(each.answer.message_id, score)
                scores.append(_reported(each, score))
            after = batch[-1].place
            if len(scores) >= limit:
                return

    async def _scored(self, vault_id: str, answer: StoredMessage, judge: ChatProvider | None) -> Score:
        sentences = cited_sentences(answer)
        by_support = Score(_mean([each.support for each in sentences]), SUPPORT, {"sentences": len(sentences)})
        if judge is None or not sentences:
            return by_support
        try:
            judgement = await self._judged(vault_id, answer, sentences, judge)
        except InvalidInput as error:
            return _unjudged(by_support, str(error))
        if isinstance(judgement, str):
            return _unjudged(by_support, judgement)
        details = {
            "sentences": len(sentences),
            "support": by_support.faithfulness,
            "weights": list(judgement.weights),
            "input_tokens": judgement.usage.input_tokens,
            "output_tokens": judgement.usage.output_tokens,
        }
        return Score(_mean(judgement.weights), f"{judge.name}:{judgement.model}", details)

    async def _judged(
        self, vault_id: str, answer: StoredMessage, sentences: Sequence[CitedSentence], judge: ChatProvider
    ) -> Judgement | str:
        """Return what the judge said, or why it could not."""
        used = [citation for citation in answer.citations if citation.spans]
        wanted = [passage for citation in used for passage in citation.passages]
        texts = await self._store.passages(vault_id, wanted)
        if any(passage.chunk_id not in texts for passage in wanted):
            return "A cited passage has changed since."
        by_number = {each.n: "\n\n".join(texts[passage.chunk_id] for passage in each.passages) for each in used}
        prompt = judge_prompt([JudgedSentence(each.text, each.numbers) for each in sentences], by_number)
        if prompt is None:
            return "The answer and its passages are too long to be judged."
        judgement = await judged(judge, prompt, len(sentences))
        return judgement or "The judge's answer could not be read."


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an answer that cites, and how it is supported: as well as its best citation."""

    text: str
    numbers: tuple[int, ...]
    support: float


def cited_sentences(answer: StoredMessage) -> list[CitedSentence]:
    """Return the answer's cited sentences in order, each once, whatever it cites."""
    places: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for citation in answer.citations:
        for span in citation.spans:
            places.setdefault((span.start, span.end), []).append((citation.n, _WEIGHTS.get(span.support, 0.0)))
    return [
        CitedSentence(answer.text[start:end], tuple(sorted({n for n, _ in cited})), max(weight for _, weight in cited))
        for (start, end), cited in sorted(places.items())
    ]


def _unjudged(score: Score, problem: str) -> Score:
    return Score(score.faithfulness, score.judge, {**score.details, "judge_problem": problem})


def _reported(each: ToScore, score: Score) -> MessageScore:
    return MessageScore(
        message_id=each.answer.message_id,
        conversation_id=each.conversation_id,
        faithfulness=score.faithfulness,
        judge=score.judge,
    )


def _mean(weights: Sequence[float]) -> float:
    return sum(weights) / len(weights) if weights else 0.0
