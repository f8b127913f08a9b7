"""What a path names, and what is said when it names nothing that can be judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deploy.evaluation.questions import sampled
from deploy.evaluation.sets import SetOptions, SetPlace, read_list, read_set
from deploy.evaluation.spans import Span
from deploy.evaluation.vault_copy import VaultCopy
from shared.errors import InvalidInput
from tests.unit.evaluation.judged_sets import write_beir, write_spans

GRADES = {("q1", "wiki/a.md"): 1}
LISTS = Path(__file__).parents[3] / "deploy/evaluation"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "wiki").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git/x.md").write_text("hidden")
    (folder / "wiki/a.md").write_text("---\nterms: [x]\n---\n# A\n")
    (folder / "wiki/picture.png").write_bytes(b"\x89PNG")
    return folder


def test_a_set_without_documents_is_about_a_vault(tmp_path: Path, vault: Path) -> None:
    folder = write_beir(tmp_path / "terms", {}, {"q1": "one"}, GRADES)
    (folder / "corpus.jsonl").unlink()
    place = SetPlace(folder, SetOptions(vault, frozenset({"terms"})))
    judged = read_set(place)
    (tmp_path / "copy").mkdir()
    assert judged.source.write(tmp_path / "copy") == {"wiki/a.md": "wiki/a.md"}
    assert [file.name for file in (tmp_path / "copy").rglob("*") if file.is_file()] == ["a.md"]
    assert (tmp_path / "copy/wiki/a.md").read_text() == "---\n---\n# A\n"
    assert (vault / "wiki/a.md").read_text() == "---\nterms: [x]\n---\n# A\n"
    with pytest.raises(InvalidInput, match="name the vault that it is about with --vault"):
        read_set(SetPlace(folder, SetOptions()))


def test_the_vaults_own_settings_go_with_its_copy(tmp_path: Path, vault: Path) -> None:
    (vault / ".citebus.toml").write_text('exclude = ["wiki/"]\n')
    (vault / "b.md").write_text("# B\n")
    (tmp_path / "copy").mkdir()
    assert VaultCopy(vault).write(tmp_path / "copy") == {"b.md": "b.md"}
    assert (tmp_path / "copy/.citebus.toml").read_text() == 'exclude = ["wiki/"]\n'
    with pytest.raises(InvalidInput, match="leave --language out"):
        VaultCopy(vault, language="de").write(tmp_path / "copy")


def test_a_list_of_questions_keeps_kinds_pages_and_phrases(tmp_path: Path, vault: Path) -> None:
    rows = [
        {"id": "1", "kind": "multi_hop", "question": "who", "pages": ["a.md", "b.md"], "phrase": "me"},
        {"id": "2", "kind": "unanswerable", "question": "why", "pages": [], "phrase": None, "lang": "en"},
    ]
    file = tmp_path / "questions.json"
    file.write_text(json.dumps(rows))
    judged = read_set(SetPlace(file, SetOptions(vault)))
    assert judged.measure == "answers"
    first, second = judged.questions
    assert (first.kind, dict(first.grades), first.phrase) == ("multi_hop", {"a.md": 1.0, "b.md": 1.0}, "me")
    assert (dict(second.grades), second.phrase) == ({}, None)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "not a JSON list"),
        ("[]", "holds no question"),
        ("[1]", "entry 1: not a JSON object"),
        ('[{"id": "1", "question": "who"}]', 'entry 1: "pages" is no list'),
        ('[{"id": "1", "question": "who", "pages": [3]}]', "something that is no path"),
        ('[{"id": "1", "question": " ", "pages": []}]', '"question" is blank'),
        ('[{"id": 1, "question": "a", "pages": []}, {"id": 1, "question": "b", "pages": []}]', "the same id"),
        ("[", "not JSON"),
    ],
)
def test_a_wrong_list_of_questions_is_refused(tmp_path: Path, vault: Path, content: str, said: str) -> None:
    file = tmp_path / "questions.json"
    file.write_text(content)
    with pytest.raises(InvalidInput, match=said):
        read_set(SetPlace(file, SetOptions(vault)))


def span_row(**fields: object) -> dict[str, object]:
    span = {"content": "second", "start_index": 6, "end_index": 12}
    return {"_id": "q1", "text": "which", "file": "a.md", "spans": [span], **fields}


def test_gold_spans_are_ranges_of_files(tmp_path: Path) -> None:
    folder = write_spans(tmp_path / "set", {"a.md": "first second third"}, [span_row()])
    judged = read_set(SetPlace(folder, SetOptions()))
    assert judged.measure == "spans"
    assert judged.questions[0].spans == (Span("a.md", 6, 12),)
    (tmp_path / "copy").mkdir()
    assert judged.source.write(tmp_path / "copy") == {"a.md": "a.md"}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"spans": []}, ":1: no span"),
        ({"spans": [{"start_index": 6, "end_index": 19}]}, "the span 6 to 19 is not within a.md"),
        ({"spans": [{"start_index": 6, "end_index": 6}]}, "is not within a.md"),
        ({"spans": [{"start_index": -1, "end_index": 6}]}, '"start_index" is not a whole number'),
        ({"spans": [{"start_index": 0, "end_index": 5, "content": "second"}]}, "are not the span's content"),
        ({"file": "b.md"}, "b.md can't be read"),
        ({"file": "../../a.md"}, "is outside of"),
        ({"text": None}, '"text" is missing'),
    ],
)
def test_a_span_that_is_not_there_is_refused(tmp_path: Path, fields: dict[str, object], said: str) -> None:
    folder = write_spans(tmp_path / "set", {"a.md": "first second third"}, [span_row(**fields)])
    with pytest.raises(InvalidInput, match=said):
        read_set(SetPlace(folder, SetOptions()))


def test_a_path_that_is_no_set_is_told_what_sets_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"is no judged set\. A set is a folder with queries\.jsonl"):
        read_set(SetPlace(tmp_path, SetOptions()))


def test_a_sample_is_the_same_every_time_and_keeps_the_order(tmp_path: Path) -> None:
    queries = {f"q{number}": f"question {number}" for number in range(50)}
    folder = write_beir(tmp_path, {"1": ("", "x")}, queries, {(each, "1"): 1 for each in queries})
    whole = read_set(SetPlace(folder, SetOptions()))
    few = [question.id for question in sampled(whole, 10).questions]
    assert few == [question.id for question in read_set(SetPlace(folder, SetOptions(limit=10))).questions]
    assert few == sorted(few, key=lambda each: int(each[1:]))
    assert len(set(few)) == 10
    assert sampled(whole, 50) is whole


def test_a_list_of_sets_names_places_below_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "sets.toml"
    file.write_text('[[set]]\npath = "a"\nlimit = 5\n[[set]]\npath = "b"\nvault = "v"\ndrop_keys = ["k"]\n')
    first, second = read_list(file, Path("/data"))
    assert first == SetPlace(Path("/data/a"), SetOptions(limit=5))
    assert second == SetPlace(Path("/data/b"), SetOptions(Path("/data/v"), frozenset({"k"})))


@pytest.mark.parametrize(
    ("content", "said"), [("[[set]]\nlimit = 5\n", "set.0.path"), ("[[set]\n", "not TOML"), ("x = 1\n", "set: Field")]
)
def test_a_wrong_list_of_sets_is_refused(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "sets.toml"
    file.write_text(content)
    with pytest.raises(InvalidInput, match=said):
        read_list(file, tmp_path)


@pytest.mark.parametrize("name", ["sets.toml", "answer_sets.toml"])
def test_the_lists_that_are_run_by_default_can_be_read(name: str) -> None:
    places = read_list(LISTS / name, Path("/data"))
    assert len({place.path for place in places}) == len(places) > 3


def test_a_set_may_be_asked_by_the_titles_of_its_documents(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "set", {"1": ("Tides", "x"), "2": ("Wind", "y")}, {"q": "own?"}, {("q", "1"): 1})
    file = tmp_path / "sets.toml"
    file.write_text('[[set]]\npath = "set"\ntitles = true\n')
    (place,) = read_list(file, tmp_path)
    judged = read_set(place)
    assert [question.text for question in judged.questions] == [
        "What is known about Tides?",
        "What is known about Wind?",
    ]
    assert (judged.name, judged.source) == ("set", read_set(SetPlace(folder, SetOptions())).source)
