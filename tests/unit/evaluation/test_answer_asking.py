"""Questions asked as a client does: what is asked, what is kept of the events, and when they came."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import pytest

from deploy.evaluation.answers.asking import AnswerAsker, Told
from deploy.evaluation.answers.questions import Asked
from deploy.evaluation.asking import Variant
from deploy.evaluation.questions import Question
from shared.contracts.chat import AnyTurnEvent, ChatRequest
from tests.unit.cli.fakes import citation
from tests.unit.cli.scripted_turns import CONVERSATION_ID, deltas, done, failed, sources, use
from tests.unit.evaluation.answered_turns import AnsweringClient

VARIANT = Variant("sparse", depth=1, k=7, context_window=9_000)
TEXT = "It rises 4 m. [1]"
EVENTS = [
    sources(citation(1, "Tides", 0.5)),
    *deltas("It rises", " 4 m. [1]"),
    use(TEXT, "It rises 4 m.", 1, "quoted"),
    done(timings_ms={"search": 400.0, "evidence": 100.0, "prompt": 50.0, "first_token": 1200.0}),
]


def always(*events: AnyTurnEvent) -> AnsweringClient:
    return AnsweringClient(lambda request: events)


async def ask(client: AnsweringClient, *asked: Asked, concurrency: int = 1) -> dict[str, Told]:
    """Ask with a clock that goes on by a second each time it is read."""
    ticks = map(float, count())
    asker = AnswerAsker(client, "notes", concurrency, clock=lambda: next(ticks))
    return await asker.ask_all(asked, VARIANT, lambda done: None)


def questions(number: int) -> Sequence[Asked]:
    return [Asked(Question(f"q{each}", f"question {each}", {"one": 1.0})) for each in range(number)]


async def test_every_question_is_asked_as_the_variant_says_the_first_one_twice() -> None:
    client = always(*EVENTS)
    await ask(client, *questions(3))
    assert [each.question for each in client.requests] == ["question 0", "question 0", "question 1", "question 2"]
    assert {(each.profile, each.expansion_depth, each.k, each.context_window) for each in client.requests} == {
        ("sparse", 1, 7, 9_000)
    }
    assert len({each.turn_id for each in client.requests}) == 4


async def test_pages_that_are_withheld_may_not_be_found() -> None:
    client = always(*EVENTS)
    await ask(client, Asked(Question("q", "what?"), ("a.md", "b.md")), *questions(1))
    assert [each.filters for each in client.requests[1:]] == [{"path": {"none": ["a.md", "b.md"]}}, {}]


async def test_text_citations_end_and_times_are_kept() -> None:
    answer = (await ask(always(*EVENTS), *questions(1)))["q0"]
    assert answer.text == TEXT
    assert [(each.start, each.end, each.n, each.support) for each in answer.uses] == [(0, 13, 1, "quoted")]
    assert answer.given[1].ref.title == "Tides"
    assert (answer.first_event_ms, answer.first_delta_ms, answer.end_ms) == (1000.0, 2000.0, 5000.0)
    assert answer.beyond_ms == pytest.approx(2000.0 - 1750.0)
    assert (answer.answered, answer.refused) == (True, False)


async def test_a_refusal_has_no_time_beyond_a_provider() -> None:
    events = [*deltas("The pages do not answer that."), done(refused=True, finish_reason="refused")]
    answer = (await ask(always(*events), *questions(1)))["q0"]
    assert (answer.answered, answer.refused, answer.beyond_ms) == (False, True, None)
    assert answer.first_event_ms == 1000.0


async def test_a_provider_that_says_in_the_words_of_a_refusal_that_it_does_not_know_has_refused() -> None:
    events = [*EVENTS[:1], *deltas("The pages of this vault do not answer that."), done()]
    answer = (await ask(always(*events), *questions(1)))["q0"]
    assert (answer.answered, answer.refused) == (False, True)


async def test_a_failure_is_neither_an_answer_nor_a_refusal() -> None:
    answer = (await ask(always(failed("internal", "broken")), *questions(1)))["q0"]
    assert (answer.answered, answer.refused, answer.first_delta_ms) == (False, False, None)


async def test_every_conversation_is_deleted_again() -> None:
    client = always(*EVENTS)
    await ask(client, *questions(2))
    assert [each.conversation_id for each in client.deleted] == [CONVERSATION_ID] * 3


async def test_answers_come_in_the_order_of_the_questions_however_many_at_once() -> None:
    def events(request: ChatRequest) -> Sequence[AnyTurnEvent]:
        return [*deltas(request.question), done()]

    answers = await ask(AnsweringClient(events), *questions(7), concurrency=3)
    assert [(each, answer.text) for each, answer in answers.items()] == [(f"q{n}", f"question {n}") for n in range(7)]
