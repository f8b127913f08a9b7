"""A calibration over the bus is recorded with the vault's space, and what is below it is refused from then on."""

from __future__ import annotations

from services.chat.adapters.postgres.thresholds import PostgresThresholds
from services.chat.answering import Judges
from services.chat.app import ChatParts, running_chat
from services.chat.evidence import WORDS
from services.chat.providers.extractive import ExtractiveProvider
from services.chat.sentence_ranking import SentenceRanker
from services.chat.settings import ChatSettings
from services.chat.support import OverlapSupport
from shared.contracts.calibration import CalibrateReply, CalibrateRequest, CalibrationQuestion
from shared.contracts.chat import TurnDone
from shared.contracts.error import ErrorReply
from tests.chat_system import FAST, Asker
from tests.fakes.scripted_provider import OneProvider
from tests.system import System

PAGE = "# Sauerkraut\n\nSauerkraut takes two percent of its weight in salt. It rests for three weeks in a crock.\n"
KNOWN = ("How much salt does sauerkraut take?", "How many weeks does sauerkraut rest in a crock?")
UNKNOWN = ("What percent of weight does salt take at the market?", "Who won the football match?")


async def test_a_recorded_threshold_refuses_what_the_default_would_answer(system: System) -> None:
    await system.write("sauerkraut.md", PAGE)
    ranker = SentenceRanker()
    judges = Judges(OverlapSupport())
    parts = ChatParts(OneProvider(ExtractiveProvider(ranker)), judges=judges, times=FAST, ranker=ranker)
    r = system.resources
    async with running_chat(r.client, r.topology, r.pool, parts, ChatSettings()):
        asker = Asker(r.client, r.topology, system.vault_id)
        before = await _end(asker, UNKNOWN[0])
        reply = await _calibrate(asker, CalibrateRequest(questions=_questions()))
        after = await _end(asker, UNKNOWN[0])
        known = await _end(asker, KNOWN[0])
    assert not before.refused
    assert (after.refused, after.refusal, after.usage) == (True, "weak_evidence", None)
    assert not known.refused
    assert known.support.quoted == 1
    (calibration,) = CalibrateReply.model_validate_json(reply).calibrations
    assert (calibration.measure, calibration.f1) == (WORDS, 1.0)
    kept = PostgresThresholds(r.pool)
    assert await kept.threshold(system.vault_id, r.space.name, WORDS) == calibration.threshold
    assert await kept.threshold("another", r.space.name, WORDS) is None


async def test_a_calibration_that_can_not_be_is_answered_by_an_error(system: System) -> None:
    await system.write("sauerkraut.md", PAGE)
    r = system.resources
    provider = ExtractiveProvider(SentenceRanker())
    async with running_chat(r.client, r.topology, r.pool, ChatParts(OneProvider(provider), times=FAST), ChatSettings()):
        asker = Asker(r.client, r.topology, system.vault_id)
        reply = await _calibrate(asker, CalibrateRequest(questions=_questions()[:2]))
    assert ErrorReply.model_validate_json(reply).code == "invalid"


def _questions() -> tuple[CalibrationQuestion, ...]:
    known = [CalibrationQuestion(question=each, answerable=True) for each in KNOWN]
    return (*known, *[CalibrationQuestion(question=each, answerable=False) for each in UNKNOWN])


async def _calibrate(asker: Asker, request: CalibrateRequest) -> bytes:
    subject = asker.topology.calibrate(asker.vault_id)
    return (await asker.client.request(subject, request.to_json(), timeout=30)).data


async def _end(asker: Asker, question: str) -> TurnDone:
    _, reading = await asker.ask(question)
    done = await reading.end()
    assert isinstance(done, TurnDone)
    return done
