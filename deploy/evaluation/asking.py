"""Asks the questions of a set over the bus, and keeps of each reply what is measured."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from pydantic import JsonValue

from deploy.evaluation.questions import Question
from deploy.evaluation.spans import Span
from shared.contracts.search import Citation, SearchReply, SearchRequest
from shared.ids import normal_path

AskedT = TypeVar("AskedT")
AnswerT = TypeVar("AnswerT")

DEADLINE_MS = 60_000
"""The longest that a request may take: what is measured is what is found, not what fits a deadline."""

WIDEST_WINDOW = 10_000_000
"""Bound of SearchRequest.context_window: the budget, a fifth of it, then drops nothing."""


_MOST_EXCLUDED = 250
"""A filter may name 256 values."""


class Client(Protocol):
    """The part of deploy.embedded.client.BusClient that is used."""

    async def search(self, vault_id: str, request: SearchRequest) -> SearchReply:
        """Search a vault; raises the CitebusError that was replied."""
        ...


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to ask all questions."""

    profile: str
    depth: int
    """Steps over the page graph."""
    k: int
    """Chunks to seed from."""
    context_window: int = WIDEST_WINDOW

    @property
    def label(self) -> str:
        """The variant in a few words."""
        return f"{self.profile}, depth {self.depth}, k {self.k}"

    def request(self, question: Question) -> SearchRequest:
        """Return the request that asks a question this way."""
        return SearchRequest(
            query=question.text,
            k=self.k,
            context_window=self.context_window,
            expansion_depth=self.depth,
            profile=self.profile,
            deadline_ms=DEADLINE_MS,
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """What is kept of one reply."""

    question: str
    ranking: tuple[str, ...]
    """Document ids in the order of the citations; those of later replies behind (`Asker.reach`)."""
    passages: tuple[Span, ...]
    similarity: float | None
    """Best cosine of query and passage."""
    has_phrase: bool
    expanded: int
    """Citations that the page graph led to."""
    dropped: int
    truncated: bool
    degraded: str | None
    latency_ms: float
    """From the request to the reply, seen by the client."""
    service_ms: float
    """What the service says it took."""


async def ask_each(
    questions: Sequence[AskedT],
    ask: Callable[[AskedT], Awaitable[AnswerT]],
    concurrency: int,
    asked: Callable[[int], None],
) -> list[AnswerT]:
    """Return the answers in the order of the questions; `asked` hears how many there are. Raises the first error.

    The first question is asked once more before, unmeasured, so that no time holds the loading of a model.
    """
    await ask(questions[0])
    waiting, answers = iter(enumerate(questions)), dict[int, AnswerT]()

    async def work() -> None:
        for place, question in waiting:
            answers[place] = await ask(question)
            asked(len(answers))

    async with asyncio.TaskGroup() as group:
        for _ in range(concurrency):
            group.create_task(work())
    return [answers[place] for place in range(len(questions))]


def document_of(citation: Citation, ids: Mapping[str, str]) -> str:
    """Return the id of the document that is cited, by page path (NFC); its path when it is none of the set's."""
    path = normal_path(citation.path)
    return ids.get(path, path)


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks one vault."""

    client: Client
    vault_id: str
    ids: Mapping[str, str]
    """Page path (NFC) to document id; a page that is not among them is named by its path."""
    reach: int = 0
    """Pages wanted of each ranking. One reply is seeded from at most 50 chunks: for more, the question is asked again
    without the pages that are known, and without expansion. Times and passages are those of the first reply."""
    concurrency: int = 1
    """Questions on their way at once; 1: latency is measured one at a time."""
    clock: Callable[[], float] = time.perf_counter

    async def ask_all(
        self, questions: Sequence[Question], variant: Variant, asked: Callable[[int], None]
    ) -> dict[str, Answer]:
        """Return the answers by question id, asked by `ask_each`; raises the first CitebusError."""
        answers = await ask_each(questions, lambda each: self._ask(each, variant), self.concurrency, asked)
        return {question.id: answer for question, answer in zip(questions, answers, strict=True)}

    async def _ask(self, question: Question, variant: Variant) -> Answer:
        started = self.clock()
        request = variant.request(question)
        reply = await self.client.search(self.vault_id, request)
        answer = self._answer(question, reply, (self.clock() - started) * 1000)
        further = await self._read_on(request, reply) if self.reach > len(answer.ranking) else []
        return replace(answer, ranking=tuple(dict.fromkeys([*answer.ranking, *self._documents(further)])))

    async def _read_on(self, request: SearchRequest, reply: SearchReply) -> list[Citation]:
        """Return what is cited behind a reply, until there is enough of it or nothing more."""
        known, further = dict.fromkeys(_pages(reply)), list[Citation]()
        new = bool(known)
        while new and len(known) < min(self.reach, _MOST_EXCLUDED):
            beyond: dict[str, JsonValue] = {"page_id": {"none": [*known]}}
            reply = await self.client.search(
                self.vault_id, request.model_copy(update={"filters": beyond, "expansion_depth": 0})
            )
            new = not known.keys() >= set(_pages(reply))
            further += reply.citations
            known |= dict.fromkeys(_pages(reply))
        return further

    def _documents(self, cited: Iterable[Citation]) -> list[str]:
        return [document_of(citation, self.ids) for citation in cited]

    def _answer(self, question: Question, reply: SearchReply, latency_ms: float) -> Answer:
        similarities = [each.similarity for each in reply.citations if each.similarity is not None]
        return Answer(
            question=question.id,
            ranking=tuple(dict.fromkeys(self._documents(reply.citations))),
            passages=tuple(
                Span(normal_path(citation.path), passage.char_start, passage.char_end)
                for citation in reply.citations
                for passage in citation.passages
            ),
            similarity=max(similarities, default=None),
            has_phrase=question.phrase is not None and _holds(reply.text, question.phrase),
            expanded=sum(citation.phase == "expansion" for citation in reply.citations),
            dropped=reply.dropped,
            truncated=reply.truncated,
            degraded=reply.degraded,
            latency_ms=latency_ms,
            service_ms=reply.timings_ms.total,
        )


def _pages(reply: SearchReply) -> list[str]:
    return [str(citation.ref.id) for citation in reply.citations]


def _holds(text: str, phrase: str) -> bool:
    """Say whether words stand in a text, however it breaks lines and hides markers."""
    return " ".join(phrase.split()) in " ".join(text.replace("\u2060", "").split())
