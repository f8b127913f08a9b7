"""Asks questions as any client does, reads the turns' events, and keeps of each answer what is judged."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import JsonValue

from deploy.evaluation.answers.questions import Asked
from deploy.evaluation.asking import Variant, ask_each
from services.chat.refusals import refusal_text
from shared.contracts.chat import (
    AnyTurnEvent,
    ChatRequest,
    SupportLabel,
    TurnCitation,
    TurnDelta,
    TurnDone,
    TurnEnd,
    TurnSources,
    TurnTimings,
)
from shared.contracts.conversations import DeleteReply, DeleteRequest
from shared.contracts.search import Citation

MAX_QUESTION_CHARS = 8_000
"""Bound of ChatRequest.question; a longer one is cut."""


class Conversations(Protocol):
    """The part of deploy.embedded.conversation_client.ConversationClient that is used."""

    async def delete(self, vault_id: str, request: DeleteRequest) -> DeleteReply:
        """Delete a conversation; raises CitebusError."""
        ...


class Client(Protocol):
    """The part of deploy.embedded.client.BusClient that is used."""

    def ask(self, vault_id: str, request: ChatRequest) -> AsyncGenerator[AnyTurnEvent]:
        """Ask, and yield the turn's events, the last one a TurnEnd; raises CitebusError."""
        ...

    @property
    def conversations(self) -> Conversations:
        """What was asked and answered before."""
        ...


@dataclass(frozen=True, slots=True)
class Use:
    """A sentence of an answer with one number that it cites."""

    start: int
    end: int
    """Half-open, in characters of the answer, without its markers."""
    n: int
    support: SupportLabel | None


@dataclass(slots=True)
class Told:
    """One answer, as its events tell it, with when they came, in milliseconds since it was asked for."""

    question: str
    text: str = ""
    given: dict[int, Citation] = field(default_factory=dict[int, Citation])
    """What a number cites."""
    uses: list[Use] = field(default_factory=list[Use])
    end: TurnEnd | None = None
    first_event_ms: float = 0.0
    first_delta_ms: float | None = None
    """None: there was no delta."""
    end_ms: float = 0.0

    @property
    def refused(self) -> bool:
        """Whether it says, as the service or in its words, that the vault does not answer that."""
        if not isinstance(self.end, TurnDone):
            return False
        return self.end.refused or self.text.strip() == refusal_text("weak_evidence", self.question)

    @property
    def answered(self) -> bool:
        """Whether it is a whole answer."""
        return isinstance(self.end, TurnDone) and not self.refused

    @property
    def timings(self) -> TurnTimings:
        """What the service says that it took."""
        return TurnTimings() if self.end is None else self.end.timings_ms

    @property
    def beyond_ms(self) -> float | None:
        """Time to the first delta that was neither search, evidence, prompt nor the provider's first words.

        It is what storing the question, publishing events and the ways over the bus took. None without a delta of a
        provider.
        """
        if self.first_delta_ms is None or not self.answered:
            return None
        said = self.timings
        return self.first_delta_ms - (said.search + said.evidence + said.prompt + said.first_token)

    def take(self, event: AnyTurnEvent, at_ms: float) -> None:
        """Grow by one event."""
        self.first_event_ms = self.first_event_ms or at_ms
        if isinstance(event, TurnSources):
            self.given = {citation.n: citation for citation in event.citations}
        elif isinstance(event, TurnDelta):
            self.first_delta_ms = at_ms if self.first_delta_ms is None else self.first_delta_ms
            self.text += event.text
        elif isinstance(event, TurnCitation):
            self.uses.append(Use(event.start, event.end, event.n, event.support))
        else:
            self.end, self.end_ms = event, at_ms


@dataclass(frozen=True, slots=True)
class AnswerAsker:
    """Asks one vault."""

    client: Client
    vault_id: str
    concurrency: int = 1
    """Questions on their way at once; 1: times are measured one at a time."""
    clock: Callable[[], float] = time.perf_counter

    async def ask_all(
        self, questions: Sequence[Asked], variant: Variant, asked: Callable[[int], None]
    ) -> dict[str, Told]:
        """Return the answers by question id, asked by `ask_each`; raises the first CitebusError.

        Every turn's conversation is deleted again, so that the vault is the same for all.
        """
        answers = await ask_each(questions, lambda each: self._ask(each, variant), self.concurrency, asked)
        return {each.question.id: answer for each, answer in zip(questions, answers, strict=True)}

    async def _ask(self, asked: Asked, variant: Variant) -> Told:
        told = Told(asked.question.text)
        request = _request(asked, variant)
        started = self.clock()
        async with aclosing(self.client.ask(self.vault_id, request)) as events:
            async for event in events:
                told.take(event, (self.clock() - started) * 1000)
        if told.end is not None:
            forget = DeleteRequest(conversation_id=told.end.conversation_id)
            await self.client.conversations.delete(self.vault_id, forget)
        return told


def _request(asked: Asked, variant: Variant) -> ChatRequest:
    hidden: list[JsonValue] = [*asked.withheld]
    return ChatRequest(
        question=asked.question.text[:MAX_QUESTION_CHARS],
        turn_id=uuid.uuid4(),
        k=variant.k,
        context_window=variant.context_window,
        expansion_depth=variant.depth,
        profile=variant.profile,
        filters={"path": {"none": hidden}} if hidden else {},
    )
