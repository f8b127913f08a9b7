"""Which questions are asked: the set's own, and as many that nothing can answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from deploy.evaluation.answers.questions import FOREIGN, WITHHELD, foreign_questions, questions_to_ask
from deploy.evaluation.questions import JudgedSet, Measure, Question
from deploy.evaluation.title_questions import read_title_questions
from deploy.evaluation.vault_copy import VaultCopy
from shared.errors import InvalidInput
from tests.unit.evaluation.judged_sets import write_beir

IDS = {"a/1.md": "one", "a/2.md": "two"}


def judged(name: str, *questions: Question, measure: Measure = "pages") -> JudgedSet:
    return JudgedSet(name, measure, questions, VaultCopy(Path("/nowhere")))


def some(count: int, kind: str = "all") -> Sequence[Question]:
    return [Question(f"{kind}{number}", "what?", {"one": 1.0}, kind) for number in range(count)]


def test_each_question_is_asked_again_without_its_pages() -> None:
    question = Question("q", "what?", {"one": 1.0, "two": 2.0}, phrase="p")
    own, made = questions_to_ask(judged("set", question), IDS, ())
    assert (own.question, own.withheld, own.answerable) == (question, (), True)
    assert (made.question.text, made.question.kind, made.answerable) == ("what?", WITHHELD, False)
    assert made.withheld == ("a/1.md", "a/2.md")
    assert made.question.id != own.question.id


def test_a_set_with_questions_that_nothing_answers_gets_no_others() -> None:
    own = judged("set", *some(2), Question("u", "who?", kind="unanswerable"))
    assert [each.question.id for each in questions_to_ask(own, IDS, some(2, "foreign"))] == ["all0", "all1", "u"]


def test_every_second_one_is_of_another_set_as_long_as_there_are() -> None:
    made = questions_to_ask(judged("set", *some(6)), IDS, some(2, "f"))[6:]
    assert [each.question.kind for each in made] == [WITHHELD, FOREIGN, WITHHELD, FOREIGN, WITHHELD, WITHHELD]
    assert not any(each.answerable for each in made)
    assert all(bool(each.withheld) is (each.question.kind == WITHHELD) for each in made)


def test_a_title_is_never_asked_for_without_its_page() -> None:
    made = questions_to_ask(judged("set", *some(3, "title")), IDS, some(2, "f"))[3:]
    assert [each.question.kind for each in made] == [FOREIGN, FOREIGN]


def test_foreign_questions_are_about_other_documents_in_the_same_language() -> None:
    own = judged("xquad/de", *some(4))
    sets = [
        own,
        judged("xquad/en", *some(4, "en")),
        judged("cranfield", *some(4, "cranfield")),
        judged("wiki/de", *some(2, "wiki"), Question("u", "unanswerable there, too")),
        judged("zeitung/de", *some(9, "zeitung")),
        judged("titel/de", *some(2, "title")),
        judged("dateien/de", *some(2, "spans"), measure="spans"),
    ]
    found = [question.id for question in foreign_questions(own, sets)]
    assert found == ["wiki0", "zeitung0", "wiki1", "zeitung1"]


def test_titles_become_questions_answered_by_all_documents_that_bear_them(tmp_path: Path) -> None:
    documents = {"1": ("Tides .", "a"), "2": ("", "b"), "3": ("Wind\nand  rain", "c"), "4": ("Tides", "d")}
    found = read_title_questions(write_beir(tmp_path / "set", documents))
    assert [(each.text, set(each.grades)) for each in found] == [
        ("What is known about Tides?", {"1", "4"}),
        ("What is known about Wind and rain?", {"3"}),
    ]
    with pytest.raises(InvalidInput, match="no document has a title"):
        read_title_questions(write_beir(tmp_path / "bare", {"1": ("", "a")}))
