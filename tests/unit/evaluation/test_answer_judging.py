"""One answer against what is known of its question: the right values, and what does not count."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.evaluation.answers.asking import Told, Use
from deploy.evaluation.answers.judging import cited_sentences, judge
from deploy.evaluation.answers.library import Library
from deploy.evaluation.questions import Question
from shared.contracts.chat import TurnEnd
from shared.errors import InvalidInput
from tests.unit.cli.scripted_turns import done, failed
from tests.unit.evaluation.answered_turns import cited, told

TIDES = "# Tides\n\nThe tide comes twice a day. It rises 4 m.\n\nNeaps last a week.\n"
WIND = "# Wind\n\nThe wind blows from the west. In winter it reaches 40 m.\n"
QUESTION = Question("q", "How high is the tide?", {"tides": 1.0}, phrase="4 m")


@pytest.fixture
def library(tmp_path: Path) -> Library:
    (tmp_path / "tides.md").write_text(TIDES)
    (tmp_path / "wind.md").write_text(WIND)
    return Library(tmp_path, {"tides.md": "tides", "wind.md": "wind"})


def values(library: Library, answer: Told, question: Question = QUESTION) -> dict[str, float]:
    return judge(question, answer, cited_sentences(question, answer, library))


def test_a_quote_from_the_page_that_answers_is_right_in_every_measure(library: Library) -> None:
    answer = told(("It rises 4 m.", 1, "quoted"), _1="tides.md")
    assert values(library, answer) == {
        "answered": 1.0,
        "citation recall": 1.0,
        "accuracy": 1.0,
        "cited text": 1.0,
        "citation precision": 1.0,
        "on gold": 1.0,
    }


def test_a_quote_from_another_page_holds_but_answers_nothing(library: Library) -> None:
    found = values(library, told(("The wind blows from the west.", 1, "quoted"), _1="wind.md"))
    assert (found["citation precision"], found["on gold"]) == (1.0, 0.0)
    assert (found["citation recall"], found["accuracy"]) == (0.0, 0.0)


def test_the_words_of_the_answer_on_another_page_recall_it_but_are_not_accurate(library: Library) -> None:
    (library._vault / "wind.md").write_text(WIND + "The tide rises 4 m.\n")  # pyright: ignore[reportPrivateUsage]
    found = values(library, told(("The tide rises 4 m.", 1, "quoted"), _1="wind.md"))
    assert (found["citation recall"], found["accuracy"], found["on gold"]) == (1.0, 0.0, 0.0)


def test_a_number_that_only_looks_like_the_answer_is_not_accurate(library: Library) -> None:
    found = values(library, told(("In winter it reaches 40 m.", 1, "quoted"), _1="wind.md"))
    assert found["accuracy"] == 0.0


def test_a_quote_that_the_passage_does_not_have_is_false(library: Library) -> None:
    answer = told(("Whales sing at night here.", 1, "quoted"), _1="tides.md")
    (sentence,) = cited_sentences(QUESTION, answer, library)
    assert (sentence.holds, sentence.false_quote) == (False, True)
    assert values(library, answer)["citation precision"] == 0.0


def test_a_quote_counts_only_within_the_range_that_is_cited(library: Library) -> None:
    answer = told(("Neaps last a week.", 1, "quoted"), _1="tides.md")
    answer.given = {1: cited(1, "tides.md", 0, TIDES.index("Neaps"))}
    (sentence,) = cited_sentences(QUESTION, answer, library)
    assert sentence.false_quote


def test_own_words_hold_by_what_answers_on_the_page_not_by_the_rest_of_it(library: Library) -> None:
    near = told(("The tide rises 4 m, twice a day.", 1, "supported"), _1="tides.md")
    far = told(("Neaps last a week or so.", 1, "supported"), _1="tides.md")
    whole_page = Question("q", "How long do neaps last?", {"tides": 1.0})
    assert values(library, near)["citation precision"] == 1.0
    assert values(library, far)["citation precision"] == 0.0
    assert values(library, far, whole_page)["citation precision"] == 1.0


def test_a_sentence_holds_when_one_of_its_citations_does(library: Library) -> None:
    answer = told(("It rises 4 m.", 1, "quoted"), _1="tides.md", _2="wind.md")
    answer.uses.append(Use(0, 13, 2, "unsupported"))
    (sentence,) = cited_sentences(QUESTION, answer, library)
    assert sentence.holds
    assert sentence.documents == {"tides", "wind"}


def test_text_without_a_citation_that_holds_is_counted_in_words(library: Library) -> None:
    answer = told(("It rises 4 m.", 1, "quoted"), "And so on.", " 5 words of chatter here.", _1="tides.md")
    assert values(library, answer)["cited text"] == pytest.approx(4 / 12)


def test_a_reference_is_compared_by_its_telling_words(library: Library) -> None:
    question = Question("q", "How high?", {"tides": 1.0}, reference="The tide rises by some 4 metres.")
    found = values(library, told(("It rises 4 m.", 1, "quoted"), _1="tides.md"), question)
    assert found["reference words"] == pytest.approx(2 / 5)  # rises and 4, of tide, rises, some, 4 and metres
    assert "accuracy" not in found


def test_of_the_pages_that_an_answer_needs_those_that_are_cited_count(library: Library) -> None:
    question = Question("q", "Tide and wind?", {"tides": 1.0, "wind": 1.0}, phrase="4 m")
    one = ("It rises 4 m.", 1, "quoted")
    both = told(one, ("The wind blows from the west.", 2, "quoted"), _1="tides.md", _2="wind.md")
    assert values(library, both, question)["pages cited"] == 1.0
    assert values(library, told(one, _1="tides.md", _2="wind.md"), question)["pages cited"] == 0.5
    assert values(library, told("No.", end=done(refused=True, finish_reason="refused")), question)["pages cited"] == 0.0


def test_numbers_within_a_range_are_no_words_of_it(library: Library) -> None:
    answer = told("It rises [1]: 4 m.", _1="tides.md")
    answer.uses.append(Use(0, len(answer.text), 1, "quoted"))
    (sentence,) = cited_sentences(QUESTION, answer, library)
    assert (sentence.holds, sentence.false_quote) == (True, False)
    assert values(library, answer)["cited text"] == 1.0


@pytest.mark.parametrize("end", [done(refused=True, finish_reason="refused"), failed("unavailable", "gone")])
def test_a_refusal_and_a_failure_miss_what_should_have_been_answered(library: Library, end: TurnEnd) -> None:
    answer = told("The pages do not answer that.", end=end)
    assert values(library, answer) == {"answered": 0.0, "citation recall": 0.0, "accuracy": 0.0}


def test_of_a_question_without_an_answer_only_whether_it_was_answered_counts(library: Library) -> None:
    answer = told(("It rises 4 m.", 1, "quoted"), _1="tides.md")
    assert values(library, answer, Question("u", "Who am I?")) == {"answered": 1.0}


def test_an_answer_that_cites_nothing_has_no_precision(library: Library) -> None:
    found = values(library, told("It rises 4 m."))
    assert (found["cited text"], found["citation recall"], found["accuracy"]) == (0.0, 0.0, 0.0)
    assert "citation precision" not in found


def test_a_cited_page_that_is_gone_is_an_error_that_names_it(library: Library, tmp_path: Path) -> None:
    (tmp_path / "tides.md").unlink()
    with pytest.raises(InvalidInput, match=r"tides\.md was cited, but can't be read: No such file"):
        values(library, told(("The tides rise.", 1, "quoted"), _1="tides.md"))
