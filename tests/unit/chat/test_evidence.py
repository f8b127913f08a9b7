"""Evidence tells questions with an answer from those without, by a threshold that follows from known questions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.chat.evidence import (
    DEFAULT_BY_WORDS,
    DEFAULT_WITH_MODEL,
    WORDS,
    CalibratedGate,
    Evidence,
    default_threshold,
    evidence_bounds,
    evidence_of,
)
from services.chat.evidence_calibration import Calibrating, calibrated, refusals
from services.chat.sentence_ranking import SentenceRanker, by_words
from shared.contracts.calibration import CalibrateRequest, Calibration, CalibrationQuestion
from shared.contracts.search import SearchReply, SearchRequest
from shared.errors import InvalidInput, Unavailable
from tests.fakes.found_passages import found, sauerkraut
from tests.fakes.scorers import FailingScorer, MarkedWordScorer

KNOWN = ("How much salt does sauerkraut take?", "What keeps the brine dark?", "How long does sauerkraut rest?")
UNKNOWN = ("Who won the football match?", "What colour are giraffes?")


class KeptThresholds:
    """Thresholds in memory."""

    def __init__(self, error: Unavailable | None = None) -> None:
        self.error = error
        self.kept: dict[tuple[str, str, str], float] = {}

    async def threshold(self, vault_id: str, space: str, measure: str) -> float | None:
        """See Thresholds.threshold."""
        if self.error is not None:
            raise self.error
        return self.kept.get((vault_id, space, measure))

    async def record(self, vault_id: str, space: str, calibrations: Sequence[Calibration]) -> None:
        """See ThresholdStore.record."""
        self.kept |= {(vault_id, space, each.measure): each.threshold for each in calibrations}


class OneReply:
    """Finds always the same; nothing for questions about giraffes."""

    async def search(self, vault_id: str, request: SearchRequest) -> SearchReply:
        """See Search.search."""
        del vault_id
        reply = found() if "giraffes" in request.query else sauerkraut()
        return reply.model_copy(update={"query": request.query})


def evidence(question: str, context: SearchReply | None = None) -> Evidence:
    context = context or sauerkraut()
    return evidence_of(by_words(question, context), context)


def test_evidence_is_more_the_more_of_a_question_a_passage_has() -> None:
    assert evidence(KNOWN[0]).score > evidence("How much salt does a giraffe take?").score > evidence(UNKNOWN[0]).score
    assert evidence(UNKNOWN[0]) == Evidence(WORDS, 0.0)


def test_similarity_counts_on_the_scale_of_its_model() -> None:
    reply = sauerkraut()
    similar = reply.citations[0].model_copy(update={"similarity": 0.45})
    by_minilm = reply.model_copy(update={"citations": (similar,), "space": "minilm-l6-384-c2"})
    by_e5 = reply.model_copy(update={"citations": (similar,), "space": "e5-small-384-c2"})
    assert evidence(UNKNOWN[0], by_minilm).score > evidence(UNKNOWN[0], by_e5).score == 0.0


async def test_a_model_makes_a_measure_of_its_own() -> None:
    ranker = SentenceRanker(MarkedWordScorer("brine"))
    judged = evidence_of(await ranker.ranking(KNOWN[1], sauerkraut()), sauerkraut())
    assert judged.measure == "marked-word"
    assert judged.score > DEFAULT_WITH_MODEL


async def test_without_calibration_only_what_clearly_nothing_fits_is_refused() -> None:
    gate = CalibratedGate(SentenceRanker(), KeptThresholds())
    assert [await gate.enough("kitchen", question, sauerkraut()) for question in KNOWN] == [True] * 3
    assert not await gate.enough("kitchen", UNKNOWN[0], sauerkraut())
    assert default_threshold(WORDS) == DEFAULT_BY_WORDS


async def test_a_threshold_holds_for_its_vault_space_and_measure_only() -> None:
    thresholds = KeptThresholds()
    thresholds.kept["kitchen", "hashing", WORDS] = 1.0
    gate = CalibratedGate(SentenceRanker(), thresholds)
    assert not await gate.enough("kitchen", KNOWN[2], sauerkraut())
    assert await gate.enough("cellar", KNOWN[2], sauerkraut())
    assert await gate.enough("kitchen", KNOWN[2], sauerkraut().model_copy(update={"space": "other"}))


async def test_a_model_reads_only_where_it_could_change_the_verdict() -> None:
    scorer, thresholds = MarkedWordScorer("salt"), KeptThresholds()
    thresholds.kept["kitchen", "hashing", scorer.name] = 0.42
    gate = CalibratedGate(SentenceRanker(scorer), thresholds)
    assert await gate.enough("kitchen", "sauerkraut salt", sauerkraut())
    assert not scorer.read
    assert not await gate.enough("kitchen", UNKNOWN[0], sauerkraut().model_copy(update={"text": "[1] a\nb c d"}))
    assert len(scorer.read) == 1


async def test_words_are_compared_once_for_the_gate_and_for_the_model() -> None:
    ranker = SentenceRanker(MarkedWordScorer("salt"))
    first = await ranker.by_words(KNOWN[0], sauerkraut())
    assert (await ranker.ranking(KNOWN[0], sauerkraut())).scorer == "marked-word"
    assert await ranker.by_words(KNOWN[0], sauerkraut()) is first
    assert first.scorer is None


async def test_evidence_lies_within_its_bounds_whatever_the_model_says() -> None:
    for question in (*KNOWN, *UNKNOWN):
        least, most = evidence_bounds(by_words(question, sauerkraut()), sauerkraut())
        for marked in ("", "no such word"):
            ranking = await SentenceRanker(MarkedWordScorer(marked)).ranking(question, sauerkraut())
            assert least <= evidence_of(ranking, sauerkraut()).score <= most


async def test_a_model_that_fails_leaves_the_verdict_to_the_words() -> None:
    gate = CalibratedGate(SentenceRanker(FailingScorer(Unavailable("away"))), KeptThresholds())
    assert await gate.enough("kitchen", KNOWN[2], sauerkraut())
    assert not await gate.enough("kitchen", UNKNOWN[0], sauerkraut())


async def test_the_default_holds_while_thresholds_can_not_be_read() -> None:
    gate = CalibratedGate(SentenceRanker(), KeptThresholds(Unavailable("away")))
    assert await gate.enough("kitchen", KNOWN[0], sauerkraut())


async def test_a_calibration_records_what_tells_the_questions_apart() -> None:
    store = KeptThresholds()
    reply = await Calibrating(OneReply(), SentenceRanker(), store).calibrate("kitchen", request())
    (found_one,) = reply.calibrations
    assert (reply.recorded, reply.space, found_one.measure) == (True, "hashing", WORDS)
    assert (found_one.questions, found_one.answerable, found_one.f1) == (4, 3, 1.0)
    assert store.kept == {("kitchen", "hashing", WORDS): found_one.threshold}


async def test_a_dry_run_records_nothing() -> None:
    store = KeptThresholds()
    reply = await Calibrating(OneReply(), SentenceRanker(), store).calibrate(
        "kitchen", request().model_copy(update={"record": False})
    )
    assert not reply.recorded
    assert store.kept == {}


async def test_questions_of_one_kind_calibrate_nothing() -> None:
    asked = CalibrateRequest(questions=tuple(CalibrationQuestion(question=each, answerable=True) for each in KNOWN))
    with pytest.raises(InvalidInput, match="with and without an answer"):
        await Calibrating(OneReply(), SentenceRanker(), KeptThresholds()).calibrate("kitchen", asked)


def request() -> CalibrateRequest:
    known = [CalibrationQuestion(question=each, answerable=True) for each in KNOWN]
    unknown = [CalibrationQuestion(question=each, answerable=False) for each in UNKNOWN]
    return CalibrateRequest(questions=(*known, *unknown))


@pytest.mark.parametrize(
    ("scores", "answerable", "threshold"),
    [
        ((0.1, 0.2, 0.6, 0.8), (False, False, True, True), 0.4),
        ((0.1, 0.2, 0.3), (True, True, True), 0.0),
        ((0.5, 0.5), (False, True), 0.0),
        ((0.1, 0.2, 0.3, 0.9), (False, True, False, True), 0.6),
    ],
)
def test_the_threshold_has_the_best_f1_of_refusal(
    scores: Sequence[float], answerable: Sequence[bool], threshold: float
) -> None:
    assert calibrated(scores, answerable) == pytest.approx(threshold)


SCORED = st.lists(st.tuples(st.integers(0, 50).map(lambda each: each / 50), st.booleans()), min_size=2, max_size=30)


@given(SCORED, st.floats(0, 1))
def test_no_other_threshold_refuses_better_and_none_as_good_is_lower(
    scored: list[tuple[float, bool]], other: float
) -> None:
    scores, answerable = [score for score, _ in scored], [known for _, known in scored]
    threshold = calibrated(scores, answerable)
    best, rival = refusals(scores, answerable, threshold)[2], refusals(scores, answerable, other)[2]
    refused = [score < threshold for score in scores]
    if other <= max(scores):
        assert rival <= best
        assert rival < best or sum(score < other for score in scores) >= sum(refused)
