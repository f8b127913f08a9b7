"""`citebus calibrate` sends known questions and shows the thresholds that follow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deploy.embedded.cli.calibrate import read_questions
from shared.contracts.calibration import CalibrateReply, Calibration
from shared.errors import InvalidInput
from tests.unit.cli.fakes import CommandLine
from tests.unit.cli.test_sessions import pretend_running

E2E = Path(__file__).parents[2] / "e2e"

REPLY = CalibrateReply(
    space="bge-small",
    calibrations=(
        Calibration(
            measure="words",
            threshold=0.43,
            questions=9,
            answerable=6,
            precision=1.0,
            recall=0.5,
            f1=0.67,
            f1_by_default=0.4,
        ),
    ),
    recorded=True,
)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.json"
    rows = [
        {"id": "a", "kind": "single", "question": "How deep?", "pages": ["wiki/dive.md"], "phrase": None},
        {"id": "b", "kind": "unanswerable", "question": "How dear?", "pages": [], "phrase": None},
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def test_a_calibration_shows_threshold_and_figures(line: CommandLine, vault: Path, questions: Path) -> None:
    pretend_running(line.data_dir, notes=vault)
    line.bus.answers["citebus.v1.calibrate.notes"] = REPLY

    result = line.run("calibrate", "--vault", "notes", "--questions", str(questions))

    assert result.exit_code == 0
    assert "words 0.430 9 3 0.67 0.40" in [" ".join(text.split()) for text in result.stdout.splitlines()]
    assert "recorded for vault notes in space bge-small" in result.stdout


def test_questions_of_several_files_are_asked_together() -> None:
    asked = read_questions([E2E / "sample_questions.json", E2E / "answer_questions.json"])
    assert (len(asked), sum(not each.answerable for each in asked)) == (60, 20)


def test_one_question_is_too_few(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text('[{"id": "a", "kind": "single", "question": "x?", "pages": [], "phrase": null}]', encoding="utf-8")
    with pytest.raises(InvalidInput, match="takes 2 to 500"):
        read_questions([path])
