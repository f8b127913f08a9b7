"""A conversation as Markdown or JSON says what was said, and where each citation leads."""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.chat.conversation_store import PlacedTurn
from services.chat.exporting import document, file_name
from services.chat.exporting_footnotes import code_span, with_footnote_marks
from services.chat.exporting_page import page_request
from shared.contracts.conversations import SaveRequest
from shared.contracts.stored_turns import ChatTurn, ConversationSummary
from shared.errors import InvalidInput
from tests.stored_turns import NOON, stored_turn


def summary(title: str = "Salt for sauerkraut") -> ConversationSummary:
    return ConversationSummary(
        conversation_id=uuid4(), title=title, created_at=NOON, updated_at=NOON, turns=2, cost="0.0024"
    )


def written(form: str, *turns: ChatTurn) -> str:
    writer = document("json" if form == "json" else "markdown")
    pieces = [writer.turn(PlacedTurn(n * 10, n, turn)) for n, turn in enumerate(turns, start=1)]
    return writer.head(summary()) + "".join(pieces) + writer.tail


def test_markdown_has_questions_as_headings_and_citations_as_footnotes() -> None:
    first = stored_turn("How much salt?", "It takes two percent [1]. Keep it cool [2][1].")
    second = stored_turn("And *sugar*?", "None [2].", support={2: "weak"})
    assert written("markdown", first, second) == (
        "# Salt for sauerkraut\n\n*Began 2026-05-31, 2 questions.*\n"
        "\n## 1. How much salt?\n\nIt takes two percent [^1-1]. Keep it cool [^1-2][^1-1].\n\n"
        "[^1-1]: Sauerkraut, `wiki/sauerkraut.md`, line 1, revision 7, quoted.\n"
        "[^1-2]: Crocks, `wiki/crocks.md`, line 1, revision 7, quoted.\n"
        "\n## 2. And \\*sugar\\*?\n\nNone [^2-2].\n\n"
        "[^2-2]: Crocks, `wiki/crocks.md`, line 1, revision 7, weak.\n"
    )


def test_a_long_question_is_quoted_in_full_below_its_heading() -> None:
    text = written("markdown", stored_turn("How much salt?\nIn brine, I mean."))
    assert "## 1. How much salt?\n\n> How much salt?\n> In brine, I mean.\n" in text


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ({"state": "failed", "error": "The provider was silent."}, "*Failed: The provider was silent.*"),
        ({"state": "cancelled", "error": "Cancelled."}, "*Cut short: Cancelled.*"),
        ({"finish_reason": "length"}, "*Cut at the limit of its length.*"),
        ({"state": "streaming"}, "*This answer is being written.*"),
    ],
)
def test_an_answer_that_is_not_whole_says_so(more: dict[str, Any], note: str) -> None:
    assert note in written("markdown", stored_turn(**more))


def test_json_holds_the_stored_records() -> None:
    turns = stored_turn(), stored_turn("And?", "None.")
    parsed = json.loads(written("json", *turns))
    assert [ChatTurn.model_validate(turn) for turn in parsed["turns"]] == list(turns)
    assert parsed["conversation"]["title"] == "Salt for sauerkraut"
    assert json.loads(written("json"))["turns"] == []


def test_what_is_no_citation_stays() -> None:
    turn = stored_turn(answer="Take `a[0]`, not [x], as [1] says.")
    assert with_footnote_marks(turn.answer, str) == "Take `a[0]`, not [x], as [^1] says."


@pytest.mark.parametrize("cut", ["Do [1]:\n```sh\nls", "Do [1]:\n~~~~\nls ```", "Do [1]:\n````\n```\nls"])
def test_code_that_was_cut_is_closed_so_that_footnotes_are_none_of_it(cut: str) -> None:
    text = with_footnote_marks(stored_turn(answer=cut).answer, str)
    fence = re.findall(r"^(?:`{3,}|~{3,})", text, re.MULTILINE)
    assert text.startswith("Do [^1]:")
    assert fence[-1][0] == fence[0][0]
    assert len(fence[-1]) >= len(fence[0])


@given(st.lists(st.sampled_from(["[1]", "[2]", " word", ". ", "\n", "é"]), max_size=12))
def test_only_markers_change(parts: list[str]) -> None:
    answer = stored_turn(answer="".join(parts)).answer
    assert re.sub(r"\[\^(\d)\]", r"[\1]", with_footnote_marks(answer, str)) == answer.text


@given(st.text(alphabet="a`b /", min_size=1).filter(lambda text: bool(text.strip())))
def test_a_code_span_holds_any_backticks(text: str) -> None:
    span = code_span(text)
    run = re.match(r"`+", span)
    assert run is not None
    assert run.group() not in re.findall(r"`+", span[len(run.group()) : -len(run.group())])


@pytest.mark.parametrize("title", ["../../etc", "???", "a" * 500, "日本" * 100, "Salt: how much?"])
def test_a_file_name_is_safe(title: str) -> None:
    name = file_name(summary(title), "markdown")
    assert re.fullmatch(r"[\w-]+\.md", name)
    assert len(name.encode()) <= 100


def test_a_page_has_footnotes_with_wikilinks_and_the_pages_that_are_used_as_sources() -> None:
    turn, conversation_id = stored_turn(answer="It takes two percent [2]."), uuid4()
    request = page_request(conversation_id, turn, SaveRequest(turn_id=turn.turn_id))
    assert request.body == "It takes two percent [^2].\n\n[^2]: [[wiki/crocks|Crocks]], line 1"
    assert (request.title, request.sources, request.question) == (
        "How much salt?",
        ("wiki/crocks.md",),
        "How much salt?",
    )
    assert (request.turn_id, request.conversation_id) == (turn.turn_id, conversation_id)
    assert request.message_id == turn.answer.message_id


def test_footnotes_of_the_answer_s_own_are_not_mixed_with_citations() -> None:
    turn = stored_turn(answer="See [^1] and [1].\n\n[^1]: mine")
    body = page_request(uuid4(), turn, SaveRequest(turn_id=turn.turn_id)).body
    assert "See [^1] and [^source-1]." in body
    assert "[^source-1]: [[wiki/sauerkraut|Sauerkraut]]" in body


def test_a_title_can_not_break_out_of_its_link() -> None:
    turn = stored_turn(titles=("Salt]] | [[evil", "x"))
    body = page_request(uuid4(), turn, SaveRequest(turn_id=turn.turn_id)).body
    assert re.search(r"\[\[wiki/[\w-]+\|Salt evil\]\]", body)


@pytest.mark.parametrize("state", ["streaming", "failed", "cancelled", "refused"])
def test_only_a_whole_answer_becomes_a_page(state: str) -> None:
    turn = stored_turn(state=state)
    with pytest.raises(InvalidInput, match=state):
        page_request(uuid4(), turn, SaveRequest(turn_id=turn.turn_id))


def test_an_answer_without_citations_is_a_page_without_sources() -> None:
    turn = stored_turn(answer="Nothing to cite.")
    request = page_request(uuid4(), turn, SaveRequest(turn_id=turn.turn_id, title="Named", path="wiki/named.md"))
    assert (request.body, request.sources) == ("Nothing to cite.", ())
    assert (request.title, request.path) == ("Named", "wiki/named.md")
