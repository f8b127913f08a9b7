"""Finds the threshold of evidence from questions of which is known whether the vault answers them, and records it.

The threshold maximises F1 of refusal; between equals the lower one, toward answering. Each measure (with a model, by
words only) is calibrated by the questions that it judged, and only if some of them have an answer and some have none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from services.chat.evidence import Evidence, default_threshold, evidence_of
from services.chat.ports import Search
from services.chat.sentence_ranking import SentenceRanker
from shared.contracts.calibration import CalibrateReply, CalibrateRequest, Calibration, CalibrationQuestion
from shared.contracts.search import SearchReply, SearchRequest
from shared.errors import InvalidInput

_AT_ONCE = 2
"""Questions in work: the rest of the service goes on answering."""

_SEARCH_MS = 10_000


class ThresholdStore(Protocol):
    """Keeps thresholds."""

    async def record(self, vault_id: str, space: str, calibrations: Sequence[Calibration]) -> None:
        """Replace the thresholds of a vault in a space. Raises NotFound (no such vault), Unavailable."""
        ...


@dataclass(frozen=True, slots=True)
class _Judged:
    answerable: bool
    space: str
    evidence: Evidence | None
    """None: nothing was found, which is refused whatever the threshold."""


class Calibrating:
    """Answers CalibrateRequest."""

    def __init__(self, search: Search, ranker: SentenceRanker, store: ThresholdStore) -> None:
        self._search = search
        self._ranker = ranker
        self._store = store

    async def calibrate(self, vault_id: str, request: CalibrateRequest) -> CalibrateReply:
        """Ask all questions, and record what follows unless the request only wants to know.

        Raises InvalidInput (too few questions of a kind, or the space changed meanwhile), NotFound, Unavailable.
        """
        places = asyncio.Semaphore(_AT_ONCE)

        async def judged(question: CalibrationQuestion) -> _Judged:
            async with places:
                return await self._judged(vault_id, question, request.profile)

        all_judged = await asyncio.gather(*(judged(question) for question in request.questions))
        spaces = {each.space for each in all_judged}
        if len(spaces) != 1:
            raise InvalidInput("the vault's embedding space changed during the calibration: calibrate again")
        calibrations = calibrations_of(all_judged)
        if not calibrations:
            raise InvalidInput("questions with and without an answer are needed, in one language: see --questions")
        (space,) = spaces
        if request.record:
            await self._store.record(vault_id, space, calibrations)
        return CalibrateReply(space=space, calibrations=calibrations, recorded=request.record)

    async def _judged(self, vault_id: str, question: CalibrationQuestion, profile: str | None) -> _Judged:
        request = SearchRequest(query=question.question, profile=profile, deadline_ms=_SEARCH_MS)
        reply = await self._search.search(vault_id, request)
        return _Judged(question.answerable, reply.space, await self._evidence(reply))

    async def _evidence(self, reply: SearchReply) -> Evidence | None:
        if not reply.citations:
            return None
        return evidence_of(await self._ranker.ranking(reply.query, reply), reply)


def calibrations_of(judged: Sequence[_Judged]) -> tuple[Calibration, ...]:
    """Return one calibration per measure that judged both kinds, in the order of their names."""
    measures = sorted({each.evidence.measure for each in judged if each.evidence})
    found: list[Calibration] = []
    for measure in measures:
        mine = [
            (each.evidence.score, each.answerable)
            for each in judged
            if each.evidence and each.evidence.measure == measure
        ]
        scores, answerable = [score for score, _ in mine], [known for _, known in mine]
        if len(set(answerable)) == 2:
            found.append(_calibration(measure, scores, answerable))
    return tuple(found)


def _calibration(measure: str, scores: Sequence[float], answerable: Sequence[bool]) -> Calibration:
    threshold = calibrated(scores, answerable)
    precision, recall, f1 = refusals(scores, answerable, threshold)
    return Calibration(
        measure=measure,
        threshold=threshold,
        questions=len(scores),
        answerable=sum(answerable),
        precision=precision,
        recall=recall,
        f1=f1,
        f1_by_default=refusals(scores, answerable, default_threshold(measure))[2],
    )


def calibrated(scores: Sequence[float], answerable: Sequence[bool]) -> float:
    """Return the threshold with the best F1 of refusal; of equals the lowest, so that rather more is answered.

    It lies midway between two scores, or at 0 where refusing nothing is best.
    """
    ordered = sorted(set(scores))
    candidates = [0.0, *(round((low + high) / 2, 4) for low, high in pairwise(ordered))]
    return max(candidates, key=lambda threshold: (refusals(scores, answerable, threshold)[2], -threshold))


def refusals(scores: Sequence[float], answerable: Sequence[bool], threshold: float) -> tuple[float, float, float]:
    """Return precision, recall and F1 of refusing what is below the threshold, each 0 to 1; 0 where undefined."""
    refused = [known for score, known in zip(scores, answerable, strict=True) if score < threshold]
    right = sum(not known for known in refused)
    without = sum(not known for known in answerable)
    if not right:
        return 0.0, 0.0, 0.0
    precision, recall = right / len(refused), right / without
    return precision, recall, 2 * precision * recall / (precision + recall)
