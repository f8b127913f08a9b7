"""Sets in the layout of BEIR: what they become, and what is said about those that are odd."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.evaluation.beir import Corpus, page, read_judgements, read_questions
from services.ingest.text.preparation import prepare_page
from services.ingest.watcher.settings_file import read_settings
from shared.contracts.files import VaultSettings
from shared.errors import InvalidInput
from tests.unit.evaluation.judged_sets import write_beir

SETTINGS = VaultSettings(vault_id="eval")


def test_documents_become_pages_with_names_that_say_nothing(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "set", {"https://example.org/a?b#c": ("A: title", "Text."), "2": ("", "Other.")})
    (tmp_path / "vault").mkdir()
    ids = Corpus(folder / "corpus.jsonl").write(tmp_path / "vault")
    assert ids == {"000/d000000.md": "https://example.org/a?b#c", "000/d000001.md": "2"}
    first = (tmp_path / "vault/000/d000000.md").read_text()
    assert first == '---\ntitle: "A: title"\n---\n\nText.\n'
    assert (tmp_path / "vault/000/d000001.md").read_text() == "---\n---\n\nOther.\n"


def test_folders_stay_small(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "set", {str(number): ("", "Text.") for number in range(1_001)})
    (tmp_path / "vault").mkdir()
    ids = Corpus(folder / "corpus.jsonl").write(tmp_path / "vault")
    assert ids["001/d001000.md"] == "1000"


def test_a_language_is_written_into_the_vaults_settings(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "set", {"1": ("", "Text.")})
    (tmp_path / "vault").mkdir()
    Corpus(folder / "corpus.jsonl", language="de").write(tmp_path / "vault")
    assert read_settings(tmp_path / "vault").language == "de"


titles = st.text(st.characters(exclude_categories=("Cs", "Cc", "Cf", "Co", "Cn")), max_size=80)


@given(titles)
def test_any_title_is_read_back_as_it_was(title: str) -> None:
    prepared = prepare_page("d1.md", page(title, "Body."), SETTINGS)
    assert prepared.title == (" ".join(title.split()) or "d1")
    assert not prepared.problems


@given(st.text(max_size=60), st.text(max_size=200))
def test_any_text_becomes_a_page_that_is_not_rejected(title: str, text: str) -> None:
    prepare_page("d1.md", page(title, text), SETTINGS)


def test_a_text_that_looks_like_front_matter_is_body() -> None:
    prepared = prepare_page("d1.md", page("", "---\ntitle: not one\n---\nBody.\n"), SETTINGS)
    assert prepared.title != "not one"


def test_nul_and_half_a_surrogate_pair_do_no_harm() -> None:
    assert page("a\0b", "x\0y\ud800").decode() == '---\ntitle: "a b"\n---\n\nx y?\n'


def test_questions_carry_their_grades_and_those_without_are_left_out_and_counted(tmp_path: Path) -> None:
    queries = {"q1": "one", "q2": "two", "q3": "  "}
    folder = write_beir(tmp_path, {"1": ("", "x")}, queries, {("q1", "1"): 2, ("q1", "2"): 0, ("q9", "1"): 1})
    questions, notes = read_questions(folder)
    assert [(question.id, question.text, question.grades) for question in questions] == [("q1", "one", {"1": 2.0})]
    assert notes[0].startswith("2 queries have nothing relevant")
    assert notes[1].startswith("1 judged queries are not in")


def test_judgements_may_lie_in_their_own_folder_and_have_no_heading(tmp_path: Path) -> None:
    folder = write_beir(tmp_path, {"1": ("", "x")}, {"q1": "one"}, {})
    (folder / "qrels.tsv").unlink()
    (folder / "qrels").mkdir()
    (folder / "qrels/test.tsv").write_text("q1\t1\t1\n")
    assert read_questions(folder)[0][0].grades == {"1": 1.0}


def test_a_question_longer_than_a_request_may_hold_is_cut_and_counted(tmp_path: Path) -> None:
    folder = write_beir(tmp_path, {"1": ("", "x")}, {"q1": "word " * 1_000}, {("q1", "1"): 1})
    questions, notes = read_questions(folder)
    assert len(questions[0].text) == 4_000
    assert "1 queries are longer" in notes[0]


def test_numbers_are_ids_too(tmp_path: Path) -> None:
    folder = write_beir(tmp_path, {"1": ("", "x")}, {"7": "one"}, {("7", "1"): 1})
    (folder / "queries.jsonl").write_text('{"_id": 7, "text": "one"}\n')
    assert read_questions(folder)[0][0].id == "7"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("queries.jsonl", '{"_id": "q1", "text": "one"}\n{"_id": ', "queries.jsonl:2: not JSON"),
        ("queries.jsonl", '["q1"]\n', "queries.jsonl:1: not a JSON object"),
        ("queries.jsonl", '{"text": "one"}\n', 'queries.jsonl:1: "_id" is missing'),
        ("queries.jsonl", '{"_id": "q1"}\n', 'queries.jsonl:1: "text" is missing'),
        ("queries.jsonl", '{"_id": "q1", "text": 3}\n', 'queries.jsonl:1: "text" is no text'),
        ("queries.jsonl", '{"_id": "q1", "text": "a"}\n{"_id": "q1", "text": "b"}\n', "an id stands there twice"),
        ("queries.jsonl", '{"_id": "q8", "text": "one"}\n', "none of the 1 queries has a relevant document"),
        ("queries.jsonl", b"\xff\xfe\n", "queries.jsonl:1: not UTF-8"),
        ("qrels.tsv", "query\tdocument\tgrade\nq1 1 1\n", "qrels.tsv:2: not query, document and grade"),
        ("qrels.tsv", "q1\t1\t1\nq1\t2\tgood\n", "qrels.tsv:2: not query, document and grade"),
    ],
)
def test_a_wrong_file_is_refused_with_file_line_and_reason(
    tmp_path: Path, name: str, content: str | bytes, said: str
) -> None:
    folder = write_beir(tmp_path, {"1": ("", "x")}, {"q1": "one"}, {("q1", "1"): 1})
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InvalidInput, match=said):
        read_questions(folder)


@pytest.mark.parametrize(("name", "said"), [("queries.jsonl", "No such file"), ("qrels.tsv", "has no judgements")])
def test_a_missing_file_is_named(tmp_path: Path, name: str, said: str) -> None:
    folder = write_beir(tmp_path, {"1": ("", "x")}, {"q1": "one"}, {("q1", "1"): 1})
    (folder / name).unlink()
    with pytest.raises(InvalidInput, match=said):
        read_questions(folder)


def test_two_documents_with_one_id_are_refused(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "set", {"1": ("", "x")})
    corpus = folder / "corpus.jsonl"
    corpus.write_text(corpus.read_text() + json.dumps({"_id": "1", "text": "y"}) + "\n")
    (tmp_path / "vault").mkdir()
    with pytest.raises(InvalidInput, match=r"corpus.jsonl:2: a second document with the id '1'"):
        Corpus(corpus).write(tmp_path / "vault")


def test_a_heading_is_only_taken_for_one_in_the_first_line(tmp_path: Path) -> None:
    file = tmp_path / "qrels.tsv"
    file.write_text("query-id\tcorpus-id\tscore\n\nq1\t1\t3\nq1\t2\t0\n")
    assert read_judgements(file) == {"q1": {"1": 3.0}}


def test_an_answer_beside_a_query_is_a_phrase_where_its_place_is_said_else_a_reference(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "set", {"d": ("", "Text.")}, {}, {("1", "d"): 1, ("2", "d"): 1, ("3", "d"): 1})
    rows = [
        {"_id": "1", "text": "how many?", "metadata": {"answer": "308", "answer_start": 34}},
        {"_id": "2", "text": "why?", "metadata": {"answer": "Because of it."}},
        {"_id": "3", "text": "what?", "metadata": None},
    ]
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    questions, _ = read_questions(folder)
    assert [(each.phrase, each.reference) for each in questions] == [
        ("308", None),
        (None, "Because of it."),
        (None, None),
    ]
