"""From answers to figures, and from figures to pages: means, refusals, times and what to mistrust."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.evaluation.answers.asking import Told
from deploy.evaluation.answers.library import Library
from deploy.evaluation.answers.questions import Asked
from deploy.evaluation.answers.refusing import score_refusals
from deploy.evaluation.answers.running import AnswersOutcome
from deploy.evaluation.answers.scoring import AnswerScore, score_answers
from deploy.evaluation.answers.tables import answers_section
from deploy.evaluation.asking import Variant
from deploy.evaluation.markdown import as_markdown
from deploy.evaluation.opening import IngestedSet
from deploy.evaluation.questions import JudgedSet, Question
from deploy.evaluation.vault_copy import VaultCopy
from tests.unit.cli.fakes import status_reply
from tests.unit.cli.scripted_turns import done, failed
from tests.unit.evaluation.answered_turns import told

REFUSED = done(refused=True, finish_reason="refused", provider=None, timings_ms={"search": 9.0})
ASKED = (
    Asked(Question("1", "a", {"d": 1.0}, "single", "blue")),
    Asked(Question("2", "b", {"d": 1.0}, "multi_hop", "blue")),
    Asked(Question("3", "c", {"d": 1.0}, "single", "blue")),
    Asked(Question("4", "d", kind="unanswerable")),
    Asked(Question("5", "e", kind="unanswerable")),
)
VARIANT = Variant("hybrid", 2, 8)


def answer(first_delta_ms: float = 100.0) -> Told:
    timings = {"search": 20.0, "evidence": 10.0, "first_token": 60.0}
    found = told(("The sea is blue.", 1, "quoted"), end=done(timings_ms=timings), _1="sea.md")
    found.first_delta_ms = first_delta_ms
    return found


@pytest.fixture
def scored(tmp_path: Path) -> AnswerScore:
    (tmp_path / "sea.md").write_text("The sea is blue.\n")
    answers = {
        "1": answer(),
        "2": told("No.", end=REFUSED),
        "3": told(end=failed("internal", "broken")),
        "4": told("No.", end=REFUSED),
        "5": answer(300.0),
    }
    return score_answers(ASKED, answers, Library(tmp_path, {"sea.md": "d"}))


def test_means_are_by_kind_and_over_all_that_can_be_answered(scored: AnswerScore) -> None:
    means = {kind: {name: mean.mean for name, mean in of.items()} for kind, of in scored.by_kind.items()}
    assert set(means) == {"single", "multi_hop", "unanswerable", "all"}
    assert (means["single"]["answered"], means["single"]["accuracy"]) == (0.5, 0.5)
    assert means["single"]["citation precision"] == 1.0
    assert means["all"]["answered"] == pytest.approx(1 / 3)
    assert scored.by_kind["all"]["answered"].questions == 3
    assert means["unanswerable"] == {"answered": 0.5}


def test_refusals_are_right_where_nothing_answers(scored: AnswerScore) -> None:
    found = scored.refusals
    assert found is not None
    assert (found.answerable, found.unanswerable, found.refused) == (3, 2, 2)
    assert (found.precision.mean, found.recall.mean, found.f1.mean) == (0.5, 0.5, 0.5)
    assert found.f1.low < 0.5 < found.f1.high


@pytest.mark.parametrize(
    ("rows", "precision", "recall", "f1"),
    [
        ([(True, True), (True, True), (True, False), (False, True), (False, False)], 2 / 3, 2 / 3, 2 / 3),
        ([(True, True), (True, False), (True, False), (True, False), (False, False)], 1.0, 0.25, 0.4),
        ([(True, False), (False, False)], 0.0, 0.0, 0.0),
        ([(True, True), (False, False)], 1.0, 1.0, 1.0),
    ],
)
def test_refusals_have_their_textbook_figures(
    rows: list[tuple[bool, bool]], precision: float, recall: float, f1: float
) -> None:
    found = score_refusals(rows)
    assert found is not None
    assert (found.precision.mean, found.recall.mean, found.f1.mean) == pytest.approx((precision, recall, f1))


@pytest.mark.parametrize("rows", [[], [(True, True)], [(False, True), (False, False)]])
def test_without_both_kinds_of_questions_refusing_is_not_judged(rows: list[tuple[bool, bool]]) -> None:
    assert score_refusals(rows) is None


def test_times_are_of_answers_and_leave_out_what_there_was_not(scored: AnswerScore) -> None:
    times = scored.times
    assert (times["first words"].p50_ms, times["first words"].p99_ms) == (100.0, 300.0)
    assert (times["beyond these"].p50_ms, times["beyond these"].p99_ms) == (10.0, 210.0)
    assert times["first event"].p50_ms == 1.0


def test_what_to_mistrust_is_counted_and_told(scored: AnswerScore, tmp_path: Path) -> None:
    assert (scored.conduct.failed, scored.conduct.first_failure) == (1, "broken")
    assert scored.answered_by == ("openai (gpt-4o)",)
    assert scored.texts["1"] == "The sea is blue. [1] "
    judged = JudgedSet("notes", "answers", tuple(each.question for each in ASKED), VaultCopy(tmp_path))
    scores, failures = {VARIANT: scored}, {Variant("mine", 2, 8): "no such profile"}
    about = IngestedSet(judged, status_reply(), None, True, ("A note.",))
    outcome = AnswersOutcome(about, ASKED, scores, failures)
    page = as_markdown("a machine", [answers_section(outcome)], {})
    assert "## notes: answers" in page
    assert "5 questions; 3 pages" in page
    assert "| hybrid | 3 | 2 | 2 | 0.500" in page
    assert "* A note." in page
    assert "mine, depth 2, k 8: not measured: no such profile" in page
    assert "1 turns failed; they are not answered: broken" in page
    assert "answered by openai (gpt-4o)." in page
