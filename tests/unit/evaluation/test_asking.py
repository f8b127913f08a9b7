"""Questions over the bus: in order, bounded, and what of a reply is kept."""

from __future__ import annotations

import pytest

from deploy.evaluation.asking import Asker, Variant
from deploy.evaluation.questions import Question
from shared.contracts.search import SearchReply, SearchRequest
from shared.errors import InvalidInput
from tests.unit.evaluation.replies import ScriptedClient, page_id, reply

QUESTIONS = [Question(f"q{number}", f"question {number}", {"one": 1.0}) for number in range(9)]
IDS = {"d1.md": "one", "d2.md": "two"}
VARIANT = Variant("sparse", depth=1, k=7)


async def ask(client: ScriptedClient, *questions: Question, concurrency: int = 1) -> list[int]:
    counted: list[int] = []
    asker = Asker(client, "notes", IDS, concurrency=concurrency)
    await asker.ask_all(questions, VARIANT, counted.append)
    return counted


async def test_every_question_is_asked_as_the_variant_says() -> None:
    client = ScriptedClient(lambda request: reply("d1.md"))
    assert await ask(client, *QUESTIONS) == list(range(1, 10))
    warm_up, *asked = client.requests
    assert warm_up == asked[0]
    assert [request.query for request in asked] == [question.text for question in QUESTIONS]
    assert {(each.profile, each.expansion_depth, each.k) for each in asked} == {("sparse", 1, 7)}
    assert all(int(each.context_window * 0.2) >= 50 * 8_000 for each in asked)


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_no_more_are_on_their_way_than_allowed(concurrency: int) -> None:
    client = ScriptedClient(lambda request: reply("d1.md"))
    await ask(client, *QUESTIONS, concurrency=concurrency)
    assert client.most_open == concurrency


async def test_pages_are_ranked_in_the_order_of_the_citations_each_once() -> None:
    client = ScriptedClient(lambda request: reply("d2.md", "d1.md", "other.md", "d2.md"))
    answers = await Asker(client, "notes", IDS).ask_all(QUESTIONS[:1], VARIANT, lambda done: None)
    assert answers["q0"].ranking == ("two", "one", "other.md")


async def test_names_in_another_unicode_form_are_the_same_page() -> None:
    client = ScriptedClient(lambda request: reply("u\u0308ber.md"))
    answers = await Asker(client, "notes", {"über.md": "one"}).ask_all(QUESTIONS[:1], VARIANT, lambda done: None)
    assert answers["q0"].ranking == ("one",)


async def test_latency_leaves_the_warm_up_out() -> None:
    client = ScriptedClient(lambda request: reply("d1.md"))
    times = iter([0.0, 9.0, 10.0, 10.025])
    asker = Asker(client, "notes", IDS, clock=lambda: next(times))
    answers = await asker.ask_all(QUESTIONS[:1], VARIANT, lambda done: None)
    assert answers["q0"].latency_ms == pytest.approx(25)


async def test_a_phrase_is_found_across_line_ends_and_invisible_marks() -> None:
    question = Question("q", "who", {"one": 1.0}, phrase="the [2] horn")
    texts = iter(["x", "blow the [\u20602]\nhorn twice", "", "the horn"])
    client = ScriptedClient(lambda request: reply("d1.md", text=next(texts)))
    asker = Asker(client, "notes", IDS)
    found = (await asker.ask_all([question], VARIANT, lambda done: None))["q"]
    missing = (await asker.ask_all([question], VARIANT, lambda done: None))["q"]
    assert (found.has_phrase, missing.has_phrase) == (True, False)


async def test_what_makes_a_reply_suspicious_is_kept() -> None:
    odd = reply("d1.md", "d2.md", similarities=[0.5, 0.7], truncated=True, degraded="embedding is down", dropped=3)
    client = ScriptedClient(lambda request: odd)
    answer = (await Asker(client, "notes", IDS).ask_all(QUESTIONS[:1], VARIANT, lambda done: None))["q0"]
    assert (answer.truncated, answer.degraded, answer.dropped, answer.similarity) == (True, "embedding is down", 3, 0.7)


async def test_a_question_that_fails_ends_the_asking_with_its_error() -> None:
    def replies(request: SearchRequest) -> SearchReply:
        if request.query == "question 5":
            raise InvalidInput("no such profile")
        return reply("d1.md")

    with pytest.raises(ExceptionGroup) as caught:
        await ask(ScriptedClient(replies), *QUESTIONS)
    assert caught.value.subgroup(InvalidInput) is not None


async def test_a_long_ranking_is_read_on_without_the_pages_that_are_known() -> None:
    pages = [f"p{number:03}.md" for number in range(130)]

    def replies(request: SearchRequest) -> SearchReply:
        excluded = request.filters.get("page_id", {"none": []})
        assert isinstance(excluded, dict)
        hidden = excluded["none"]
        assert isinstance(hidden, list)
        left = [page for page in pages if page_id(page) not in hidden]
        return reply(*left[:50])

    client = ScriptedClient(replies)
    asker = Asker(client, "notes", {}, reach=100)
    answers = await asker.ask_all(QUESTIONS[:1], VARIANT, lambda done: None)
    assert answers["q0"].ranking == tuple(pages[:100])
    first, second = client.requests[-2:]
    assert (first.filters, first.expansion_depth) == ({}, 1)
    assert second.expansion_depth == 0


async def test_reading_on_ends_where_there_is_nothing_more() -> None:
    client = ScriptedClient(lambda request: reply() if request.filters else reply("d1.md"))
    asker = Asker(client, "notes", IDS, reach=100)
    answers = await asker.ask_all(QUESTIONS[:1], VARIANT, lambda done: None)
    assert answers["q0"].ranking == ("one",)
    assert len(client.requests) == 4  # two of them unmeasured
