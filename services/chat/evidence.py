"""Whether passages bear on a question at all: one score from what is at hand, held against a calibrated threshold.

The score, 0 to 1, is made of three shares: how much of the question, each word weighed by its rarity, the best passage
has; the best similarity, on the scale of its model; and how well a sentence answers it in the eyes of the model that
reads both, where there is one for the language. Scores with and without that model are two measures, each with a
threshold of its own. Thresholds come from a calibration (services.chat.evidence_calibration), recorded per vault and
space; without one, a default that refuses few questions wrongly in vaults of any kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog

from services.chat.sentence_ranking import Ranking, SentenceRanker
from shared.contracts.search import SearchReply
from shared.errors import RetryableError

_log = structlog.get_logger(__name__)

WORDS = "words"
"""The measure without a model."""

DEFAULT_WITH_MODEL = 0.55
DEFAULT_BY_WORDS = 0.39
"""Where refusals are best while, of questions that one page answers, one in ten at most is refused wrongly, in vaults
of several kinds (docs/evaluation.md). Of those that need two pages more are refused."""

_COVERAGE, _SIMILARITY, _MODEL = 0.4, 0.2, 0.4
"""Weights of the shares; those that are missing leave theirs to the others."""

_LOG_ODDS_FROM, _LOG_ODDS_TO = -8.0, 8.0
"""What a cross-encoder says of nonsense, and of an answer."""

_SIMILARITY_SCALES: tuple[tuple[str, float, float], ...] = (
    ("bge-m3", 0.30, 0.80), ("bge", 0.40, 0.90), ("e5", 0.70, 0.95), ("gte", 0.65, 0.95), ("minilm", 0.05, 0.80),
    ("nomic", 0.45, 0.90), ("text-embedding-3", 0.10, 0.75), ("mxbai", 0.35, 0.90),
)  # fmt: skip
"""By the name of a space: the cosine of texts that have nothing to do with each other, and of question and answer."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """How much speaks for an answer."""

    measure: str
    """WORDS, or the name of the model that has read."""
    score: float
    """0 to 1; comparable within one measure and space."""


class Thresholds(Protocol):
    """The recorded thresholds."""

    async def threshold(self, vault_id: str, space: str, measure: str) -> float | None:
        """Return the score from which an answer is tried; None: not calibrated. Raises Unavailable."""
        ...


class CalibratedGate:
    """Implements EvidenceGate."""

    def __init__(self, ranker: SentenceRanker, thresholds: Thresholds) -> None:
        self._ranker = ranker
        self._thresholds = thresholds

    async def enough(self, vault_id: str, question: str, context: SearchReply) -> bool:
        """See EvidenceGate.enough. No model reads where whatever it said would change nothing."""
        reader = self._ranker.reader_of(question)
        threshold = await self._threshold(vault_id, context.space, reader or WORDS)
        least, most = evidence_bounds(await self._ranker.by_words(question, context), context)
        if reader is not None and (least >= threshold or most < threshold):
            return least >= threshold
        evidence = evidence_of(await self._ranker.ranking(question, context), context)
        if evidence.measure != (reader or WORDS):  # the model failed
            threshold = await self._threshold(vault_id, context.space, evidence.measure)
        return evidence.score >= threshold

    async def _threshold(self, vault_id: str, space: str, measure: str) -> float:
        try:
            recorded = await self._thresholds.threshold(vault_id, space, measure)
        except RetryableError as error:
            _log.warning("evidence is judged by the default threshold", vault=vault_id, error=str(error))
            recorded = None
        return default_threshold(measure) if recorded is None else recorded


def default_threshold(measure: str) -> float:
    """Return the threshold of what was not calibrated."""
    return DEFAULT_BY_WORDS if measure == WORDS else DEFAULT_WITH_MODEL


def evidence_of(ranking: Ranking, context: SearchReply) -> Evidence:
    """Return the evidence that a context has for a question. Pure."""
    shares = _shares_by_words(ranking, context)
    if ranking.most_by_model is None:
        return Evidence(WORDS, _mean(shares))
    by_model = _scaled(ranking.most_by_model, _LOG_ODDS_FROM, _LOG_ODDS_TO)
    return Evidence(ranking.scorer or WORDS, _mean([*shares, (_MODEL, by_model)]))


def evidence_bounds(ranking: Ranking, context: SearchReply) -> tuple[float, float]:
    """Return between which scores the evidence would be if a model read, whatever it said. Pure."""
    shares = _shares_by_words(ranking, context)
    return _mean([*shares, (_MODEL, 0.0)]), _mean([*shares, (_MODEL, 1.0)])


def _shares_by_words(ranking: Ranking, context: SearchReply) -> list[tuple[float, float]]:
    """Return weight and value of each share that needs no model."""
    shares = [(_COVERAGE, _coverage(ranking))]
    similarity = max((each.similarity for each in context.citations if each.similarity is not None), default=None)
    scale = next((each for each in _SIMILARITY_SCALES if each[0] in context.space.lower()), None)
    if similarity is not None and scale is not None:
        shares.append((_SIMILARITY, _scaled(similarity, scale[1], scale[2])))
    return shares


def _mean(shares: Sequence[tuple[float, float]]) -> float:
    return round(sum(weight * share for weight, share in shares) / sum(weight for weight, _ in shares), 4)


def _coverage(ranking: Ranking) -> float:
    """Return the share of the question's words, by rarity, that the best passage has, 0 to 1."""
    by_passage: dict[int, set[str]] = {}
    for unit in ranking.units:
        by_passage.setdefault(unit.n, set()).update(unit.covered)
    total = sum(ranking.rarity.values())
    best = max((sum(ranking.rarity[word] for word in words) for words in by_passage.values()), default=0.0)
    return best / total if total else 0.0


def _scaled(value: float, lowest: float, highest: float) -> float:
    return min(1.0, max(0.0, (value - lowest) / (highest - lowest)))
