"""`citebus eval` without servers: what it asks, shows and writes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import Result

from shared.contracts.conversations import DeleteReply
from shared.contracts.error import ErrorReply
from tests.unit.cli.fakes import CommandLine, citation, search_reply, status_reply, sync_reply
from tests.unit.cli.scripted_turns import CONVERSATION_ID, Turn, deltas, done, refused, sources, use
from tests.unit.evaluation.judged_sets import write_beir, write_spans

SEARCH = "citebus.v1.search.vault"


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    documents = {"a": ("Tides", "Twice a day."), "b": ("Wind", "From the west.")}
    return write_beir(tmp_path / "tides", documents, {"q1": "tides?", "q2": "wind?"}, {("q1", "a"): 1, ("q2", "b"): 1})


@pytest.fixture(autouse=True)
def hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEBUS_EMBEDDING_PROVIDER", "hashing")


@pytest.fixture
def scripted(line: CommandLine) -> CommandLine:
    found = search_reply(citation(1, "Tides", 0.8, path="000/d000000.md"))
    line.bus.answers = {
        "citebus.v1.ingest.sync.vault": sync_reply(),
        "citebus.v1.ingest.status.vault": status_reply("vault"),
        SEARCH: found,
    }
    return line


def evaluate(line: CommandLine, tmp_path: Path, *arguments: str | Path) -> Result:
    places = ("--work-dir", str(tmp_path / "work"), "--out", str(tmp_path / "out"))
    return line.run("eval", *map(str, arguments), *places, data_dir=False)


def report(tmp_path: Path) -> dict[str, object]:
    (file,) = (tmp_path / "out").glob("*.json")
    return json.loads(file.read_text())


def test_a_set_is_asked_and_its_figures_are_shown_and_written(
    scripted: CommandLine, judged: Path, tmp_path: Path
) -> None:
    result = evaluate(scripted, tmp_path, judged, "--all-profiles", "--depth", "0", "--depth", "2", "--k", "9")
    assert result.exit_code == 0, result.stderr
    asked = scripted.bus.asked(SEARCH)
    assert {(each["profile"], each["expansion_depth"], each["k"]) for each in asked} >= {
        (profile, depth, 9) for profile in ("hybrid", "dense", "sparse") for depth in (0, 2)
    }
    assert "0.500 [0.000, 1.000]" in result.stdout
    (found,) = report(tmp_path)["sets"]  # type: ignore[misc]
    assert found["variants"][0]["profile"] == "hybrid"
    assert found["variants"][0]["by_question"]["q1"]["nDCG@10"] == 1.0
    (page,) = (tmp_path / "out").glob("*.md")
    assert page.read_text().startswith("# Evaluation\n")


def test_the_stack_is_of_the_set_and_stopped_at_the_end(scripted: CommandLine, judged: Path, tmp_path: Path) -> None:
    evaluate(scripted, tmp_path, judged)
    (options,) = scripted.opener.opened
    assert options.data_dir.is_relative_to(tmp_path / "work")
    assert options.vaults == (options.data_dir.parent / "vault",)
    assert scripted.opener.closed == 1


def test_a_profile_that_fails_is_named_and_the_others_count(
    scripted: CommandLine, judged: Path, tmp_path: Path
) -> None:
    refused = ErrorReply(code="invalid", message="There is no retrieval profile 'mine'.")
    fine = scripted.bus.answers[SEARCH]
    assert not isinstance(fine, list | Exception)
    scripted.bus.answers[SEARCH] = [refused, fine]
    result = evaluate(scripted, tmp_path, judged, "--profile", "mine", "--profile", "sparse")
    assert result.exit_code == 1
    assert "mine, depth 0, k 50: not measured: There is no retrieval profile 'mine'." in result.stdout
    assert "sparse" in result.stdout


def test_a_profile_that_is_only_one_of_all_may_be_unusable(scripted: CommandLine, judged: Path, tmp_path: Path) -> None:
    fine = scripted.bus.answers[SEARCH]
    assert not isinstance(fine, list | Exception)
    replies = [fine] * 6  # the default profile: both questions and one unmeasured, each once more for further pages
    scripted.bus.answers[SEARCH] = [*replies, ErrorReply(code="invalid", message="needs a provider"), fine]
    result = evaluate(scripted, tmp_path, judged, "--all-profiles")
    assert result.exit_code == 0
    assert "not measured: needs a provider" in result.stdout


def test_a_set_that_can_not_be_run_harms_only_itself(scripted: CommandLine, judged: Path, tmp_path: Path) -> None:
    broken = write_beir(tmp_path / "broken", {}, {"q1": "one"}, {("q1", "a"): 1})
    result = evaluate(scripted, tmp_path, broken, judged)
    assert result.exit_code == 1
    assert "citebus: broken: broken has no documents" in result.stderr
    assert report(tmp_path)["failures"] == {"broken": "broken has no documents"}
    assert [each["name"] for each in report(tmp_path)["sets"]] == ["tides"]  # type: ignore[index, attr-defined]


def test_a_wrong_set_is_a_misuse_before_anything_is_started(
    scripted: CommandLine, judged: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    result = evaluate(scripted, tmp_path, judged, tmp_path / "empty")
    assert result.exit_code == 2
    assert "is no judged set" in result.stderr
    assert scripted.opener.opened == []


def test_sets_of_a_list_that_are_not_there_are_left_out(scripted: CommandLine, judged: Path, tmp_path: Path) -> None:
    listed = tmp_path / "sets.toml"
    listed.write_text('[[set]]\npath = "tides"\nlimit = 1\n[[set]]\npath = "gone"\n')
    result = evaluate(scripted, tmp_path, listed)
    assert result.exit_code == 0, result.stderr
    assert "sets.toml: left out, as it is not there" in result.stderr
    assert len(scripted.bus.asked(SEARCH)) == 4  # half of them unmeasured, half for further pages
    listed.write_text('[[set]]\npath = "gone"\n')
    assert evaluate(scripted, tmp_path, listed).exit_code == 2


def test_answers_are_asked_for_over_chat_and_their_figures_are_shown_and_written(
    scripted: CommandLine, judged: Path, tmp_path: Path
) -> None:
    scripted.bus.answers["citebus.v1.conversation.delete.vault"] = DeleteReply(conversation_id=CONVERSATION_ID)
    text = "Twice a day. [1]"
    found = citation(1, "Tides", 0.8, path="000/d000000.md")
    passage = found.passages[0].model_copy(update={"char_end": 1_000})
    found = found.model_copy(update={"passages": (passage,)})
    answer = Turn([sources(found), *deltas(text), use(text, "Twice a day.", 1, "quoted"), done()])
    scripted.bus.turns.turns.extend([answer, answer, refused("No."), answer, refused("No.")])
    result = evaluate(scripted, tmp_path, judged, "--answers")
    assert result.exit_code == 0, result.stderr
    asked = scripted.bus.turns.requests[1:]  # the first one is unmeasured
    assert [(each["question"], each["filters"]) for each in asked] == [
        ("tides?", {}),
        ("wind?", {}),
        ("tides?", {"path": {"none": ["000/d000000.md"]}}),
        ("wind?", {"path": {"none": ["000/d000001.md"]}}),
    ]
    assert {(each["profile"], each["k"], each["expansion_depth"], each["context_window"]) for each in asked} == {
        ("hybrid", 8, 2, 32_768)
    }
    assert len(scripted.bus.asked("citebus.v1.conversation.delete.vault")) == 5
    assert "refusal F1" in result.stdout
    assert report(tmp_path)["sets"] == []
    (outcome,) = report(tmp_path)["answers"]  # type: ignore[misc]
    (variant,) = outcome["variants"]
    assert variant["by_question"]["q1"]["citation precision"] == 1.0
    assert variant["by_question"]["q2"] == {"answered": 0.0, "citation recall": 0.0}
    assert variant["refusals"]["f1"]["mean"] == 0.5


def test_answers_to_questions_about_spans_are_not_measured(scripted: CommandLine, tmp_path: Path) -> None:
    row = {"_id": "1", "text": "otter?", "file": "a.md", "spans": [{"start_index": 0, "end_index": 5}]}
    folder = write_spans(tmp_path / "spans", {"a.md": "Otter swims."}, [row])
    result = evaluate(scripted, tmp_path, folder, "--answers")
    assert result.exit_code == 1
    assert "answers are measured on questions about pages" in result.stderr
    assert scripted.opener.opened == []
