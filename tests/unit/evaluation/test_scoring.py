"""From answers to figures, and from figures to comparisons and pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from deploy.evaluation.asking import Answer, Variant
from deploy.evaluation.comparing import compare
from deploy.evaluation.markdown import as_markdown
from deploy.evaluation.opening import IngestedSet
from deploy.evaluation.questions import JudgedSet, Measure, Question
from deploy.evaluation.running import SetOutcome, profiles_of
from deploy.evaluation.scoring import Score, score
from deploy.evaluation.spans import Span
from deploy.evaluation.tables import differences, means, remarks, section
from deploy.evaluation.vault_copy import VaultCopy
from tests.unit.cli.fakes import status_reply

HYBRID, SPARSE = Variant("hybrid", 0, 50), Variant("sparse", 0, 50)

ANSWER = Answer("", (), (), None, has_phrase=False, expanded=0, dropped=0, truncated=False, degraded=None,
                latency_ms=5.0, service_ms=3.0)  # fmt: skip


def scored(measure: Measure, questions: Sequence[Question], *answers: Answer) -> Score:
    return score(measure, questions, {each.id: answer for each, answer in zip(questions, answers, strict=True)})


def ranked(*ranking: str, **fields: object) -> Answer:
    return replace(ANSWER, ranking=ranking, **fields)  # type: ignore[arg-type]


def test_pages_are_judged_by_rank_and_depth() -> None:
    questions = [Question("1", "a", {"x": 1.0}), Question("2", "b", {"x": 1.0, "y": 1.0})]
    found = scored("pages", questions, ranked("n", "x"), ranked(*map(str, range(20)), "y"))
    figures = {name: mean.mean for name, mean in found.by_kind["all"].items()}
    assert figures["MRR@10"] == 0.25
    assert (figures["recall@20"], figures["recall@100"]) == (0.5, 0.75)
    assert found.by_question["1"]["nDCG@10"] == pytest.approx(0.6309, abs=1e-4)


def test_answers_are_judged_by_kind_and_those_that_nothing_answers_by_similarity() -> None:
    questions = [
        Question("1", "a", {"x": 1.0}, "single", "p"),
        Question("2", "b", {"x": 1.0, "y": 1.0}, "multi_hop", "p"),
        Question("3", "c", {}, "unanswerable"),
    ]
    answers = [ranked("x", similarity=0.8, has_phrase=True), ranked("n", "x", similarity=0.6), ranked(similarity=0.7)]
    found = scored("answers", questions, *answers)
    assert set(found.by_kind) == {"single", "multi_hop", "all"}
    multi_hop = {name: mean.mean for name, mean in found.by_kind["multi_hop"].items()}
    assert (multi_hop["hit@1"], multi_hop["hit@3"], multi_hop["recall@20"]) == (0.0, 1.0, 0.5)
    assert (multi_hop["all pages@20"], multi_hop["phrase"]) == (0.0, 0.0)
    assert found.by_kind["single"]["phrase"].mean == 1.0
    assert found.by_kind["all"]["hit@1"].questions == 2
    assert found.separation == 0.5
    assert found.conduct.empty == 1


def test_spans_are_judged_by_characters() -> None:
    questions = [Question("1", "a", spans=(Span("f.md", 0, 10),), kind="f.md")]
    found = scored("spans", questions, replace(ANSWER, passages=(Span("f.md", 5, 15),)))
    assert found.by_kind["f.md"]["span recall"].mean == 0.5
    assert found.by_kind["f.md"]["span IoU"].mean == pytest.approx(5 / 15)


def outcome() -> SetOutcome:
    questions = tuple(Question(str(number), "a", {"x": 1.0}) for number in range(20))
    judged = JudgedSet("A | set", "pages", questions, VaultCopy.__new__(VaultCopy), ("Something was left out.",))
    good, bad = [ranked("x")] * 20, [ranked("n", "x", truncated=True)] * 20
    deep = replace(HYBRID, depth=2)
    scores = {
        HYBRID: scored("pages", questions, *good),
        SPARSE: scored("pages", questions, *bad),
        deep: scored("pages", questions, *good),
    }
    failures = {Variant("multi-query", 0, 50): "needs a provider"}
    found = [*compare(questions, scores)]
    about = IngestedSet(judged, status_reply(), None, True, judged.notes)
    return SetOutcome(about, scores, failures, found)


def test_the_first_profile_is_compared_with_each_other_one_and_depths_with_the_shallowest() -> None:
    found = outcome()
    compared = [each for each in compare(found.about.judged.questions, found.scores) if each.measure == "nDCG@10"]
    verdicts = [(each.of.label, each.over.label, each.verdict) for each in compared]
    assert verdicts == [
        ("hybrid, depth 0, k 50", "sparse, depth 0, k 50", "better"),
        ("hybrid, depth 2, k 50", "hybrid, depth 0, k 50", "no difference"),
    ]
    assert compared[0].difference.mean == pytest.approx(1 - 0.6309, abs=1e-4)


def test_a_worse_profile_is_said_to_be_worse() -> None:
    found = outcome()
    turned = {replace(SPARSE, profile="a"): found.scores[SPARSE], replace(HYBRID, profile="b"): found.scores[HYBRID]}
    assert {each.verdict for each in compare(found.about.judged.questions, turned) if each.measure == "MRR@10"} == {
        "worse"
    }


def test_tables_hold_a_row_per_variant_and_remarks_say_what_to_mistrust() -> None:
    found = outcome()
    assert [row[:4] for row in means(found).rows] == [
        ("hybrid", "0", "50", "all (20)"),
        ("sparse", "0", "50", "all (20)"),
        ("hybrid", "2", "50", "all (20)"),
    ]
    assert len(differences(found).rows) == 2
    said = "\n".join(remarks(found))
    assert "Something was left out." in said
    assert "sparse, depth 0, k 50: 20 replies were cut short" in said
    assert "multi-query, depth 0, k 50: not measured: needs a provider" in said


def test_the_page_is_markdown_whatever_names_say() -> None:
    page = as_markdown("a <machine>", [section(outcome())], {"other": "no\ncorpus"})
    lines = page.splitlines()
    assert "## A \\| set" in lines
    assert "a &lt;machine>" in lines
    assert "* other could not be run: no corpus" in lines
    tables = [line for line in lines if line.startswith("| ")]
    assert {line.replace("\\|", "").count("|") for line in tables} == {11, 6}


def test_the_default_profile_comes_first_and_each_once() -> None:
    known = {"dense": 1, "hybrid": 1, "sparse": 1}
    assert profiles_of(("sparse",), known, "hybrid", every=True) == ("sparse",)
    assert profiles_of((), known, "hybrid", every=False) == ("hybrid",)
    assert profiles_of((), known, "hybrid", every=True) == ("hybrid", "dense", "sparse")
    assert profiles_of(("sparse", "mine"), known, "hybrid", every=False) == ("sparse", "mine")
    assert profiles_of(("sparse", "hybrid"), known, "hybrid", every=False) == ("hybrid", "sparse")
