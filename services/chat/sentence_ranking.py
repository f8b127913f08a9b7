"""Which sentences of a context answer a question best: what the evidence gate and the extractive provider both ask.

Two scores for each unit (services.chat.sentences). By words: how much of the question it has, each word weighed by its
rarity among the passages, with its headings, its neighbours and its passage's own rank beside. By a model that reads
question and sentence together, if there is one and the text is in its language: only the best units by words are read.
Deterministic for a deterministic scorer. A scorer that fails is done without, and the failure is logged.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import structlog

from services.chat.context_entries import ContextEntry, context_entries
from services.chat.languages import Language, language_of, words_of
from services.chat.sentences import Unit, units_of
from services.chat.support_words import tokens_of
from shared.contracts.search import SearchReply
from shared.errors import CitebusError
from shared.scoring.scorer import PassageScorer

_log = structlog.get_logger(__name__)

MOST_SCORED = 12
"""Units that the model reads, 13 ms each on one core: in 300 questions, twice as many brought no better answers."""

_KEPT = 32
"""Rankings, two a question: those of the gate are asked for again, by itself and by the provider a moment later."""

_MOST_UNITS = 4_000
_MOST_QUESTION_CHARS = 2_000
_MOST_SCORED_CHARS = 600
_MOST_READ_CHARS = 4_000
"""Bounds of one ranking, of its question, of a unit that the model reads, and of one whose words are compared."""

_ENTRIES_KEPT = 128
"""Passages taken apart: the same pages are found again and again."""

_HEADING = 0.6
_NEAR = 0.4
"""Factors of a question's word that only the headings, or only the sentence before, have."""

_RANK = 0.12
_SIMILARITY = 0.12
"""Most that a passage's place and its similarity add to each of its units."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A unit with its scores."""

    n: int
    """The number of its passage."""
    place: int
    """In its passage, from 0."""
    unit: Unit
    title: tuple[str, ...]
    """Of the passage; none, or one."""
    stems: frozenset[str]
    words: float
    """By words, 0 to about 1.2."""
    covered: frozenset[str]
    """Words of the question that it has itself."""
    model: float | None = None
    """By the model, −12 to 12 (log odds); None: not read."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The units of a context, for one question."""

    question: str
    language: Language
    rarity: dict[str, float]
    """Weight of each word of the question; those that no passage has weigh most."""
    units: tuple[Ranked, ...]
    """In the order of the context."""
    scorer: str | None
    """Name of the model that has read; None: none did."""

    @property
    def most_by_model(self) -> float | None:
        """The best score of the model."""
        return max((each.model for each in self.units if each.model is not None), default=None)


class SentenceRanker:
    """Ranks, and remembers the latest rankings. Safe to call concurrently from one event loop."""

    def __init__(self, scorer: PassageScorer | None = None) -> None:
        """`scorer` reads English, as the bundled one does; the caller closes it."""
        self._scorer = scorer
        self._kept: OrderedDict[tuple[str, str, bool], Ranking] = OrderedDict()
        """By question, context, and whether a model may have read."""

    @property
    def name(self) -> str:
        """The model that reads, or that words are compared."""
        return self._scorer.name if self._scorer else "word-overlap"

    async def ranking(self, question: str, context: SearchReply) -> Ranking:
        """Return the ranking; does not raise errors of citebus."""

        async def read() -> Ranking:
            return await self._read(await self.by_words(question, context))

        return await self._once((question, context.text, True), read)

    async def by_words(self, question: str, context: SearchReply) -> Ranking:
        """Return the ranking without the model."""
        return await self._once((question, context.text, False), lambda: asyncio.to_thread(by_words, question, context))

    async def _once(self, key: tuple[str, str, bool], make: Callable[[], Awaitable[Ranking]]) -> Ranking:
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        ranking = self._kept[key] = await make()
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return ranking

    def reader_of(self, question: str) -> str | None:
        """Return the name of the model that would read for this question; None: none would."""
        return self._scorer.name if self._scorer is not None and _reads(question) else None

    async def _read(self, ranking: Ranking) -> Ranking:
        if self._scorer is None or self.reader_of(ranking.question) is None:
            return ranking
        order = sorted(range(len(ranking.units)), key=lambda at: -ranking.units[at].words)
        chosen = [at for at in order if ranking.units[at].unit.kind not in {"code", "heading"}][:MOST_SCORED]
        texts = [_shown(ranking.units[at]) for at in chosen]
        try:
            scores = await self._scorer.scores(ranking.question, texts)
        except CitebusError as error:
            _log.warning("sentences are compared by words only", scorer=self._scorer.name, error=str(error))
            return ranking
        by_place = {at: _log_odds(score) for at, score in zip(chosen, scores, strict=True)}
        units = tuple(_with_model(unit, by_place.get(at)) for at, unit in enumerate(ranking.units))
        return Ranking(ranking.question, ranking.language, ranking.rarity, units, self._scorer.name)


def _with_model(ranked: Ranked, model: float | None) -> Ranked:
    return replace(ranked, model=model)


def _reads(question: str) -> bool:
    """Tell whether the question is in the model's language: nothing in it says that it is in another."""
    letters = [character for character in question if character.isalpha()]
    latin = sum(character < "\u0250" for character in letters)
    return language_of(question) == "en" and latin * 10 >= len(letters) * 9


def _shown(ranked: Ranked) -> str:
    """Return a unit as the model reads it: under title and innermost heading, which often name what it is about."""
    above = dict.fromkeys((*ranked.title, *ranked.unit.headings[-1:]))
    return f"{', '.join(above)}: {ranked.unit.text}"[:_MOST_SCORED_CHARS]


def _log_odds(score: float) -> float:
    """Return log odds of a score of 0 to 1; a score beyond, of another kind of model, is taken as log odds."""
    if not 0.0 <= score <= 1.0:
        return max(-12.0, min(12.0, score))
    kept = min(max(score, 1e-5), 1 - 1e-5)
    return math.log(kept / (1 - kept))


def by_words(question: str, context: SearchReply) -> Ranking:
    """Return the ranking without any model. Pure."""
    question = question[:_MOST_QUESTION_CHARS]
    asked = _asked(question)
    read = _entries(context)
    rarity = _rarity(asked, [keys for _, units in read for _, keys, _ in units])
    similar = {citation.n: citation.similarity or 0.0 for citation in context.citations}
    ranked: list[Ranked] = []
    for rank, (entry, units) in enumerate(read):
        bonus = _RANK / (1 + rank) + _SIMILARITY * max(0.0, similar.get(entry.n, 0.0))
        ranked += _entry(entry, units, rarity, bonus)
    return Ranking(question, language_of(question), rarity, tuple(ranked), None)


_ReadUnit = tuple[Unit, frozenset[str], frozenset[str]]
"""A unit, its stems, and those of the headings above."""


def _entries(context: SearchReply) -> list[tuple[ContextEntry, Sequence[_ReadUnit]]]:
    """Return the entries taken apart, the first ones that have _MOST_UNITS units together."""
    read: list[tuple[ContextEntry, Sequence[_ReadUnit]]] = []
    left = _MOST_UNITS
    for entry in context_entries(context).values():
        units = _read_units(entry.text)[:left]
        left -= len(units)
        if units:
            read.append((entry, units))
    return read


@lru_cache(maxsize=_ENTRIES_KEPT)
def _read_units(text: str) -> tuple[_ReadUnit, ...]:
    headings: dict[tuple[str, ...], frozenset[str]] = {}
    read: list[_ReadUnit] = []
    for unit in units_of(text)[:_MOST_UNITS]:
        if unit.headings not in headings:
            headings[unit.headings] = frozenset[str]().union(*(_keys(heading) for heading in unit.headings))
        read.append((unit, _keys(unit.text[:_MOST_READ_CHARS]), headings[unit.headings]))
    return tuple(read)


def _asked(question: str) -> list[str]:
    return list(dict.fromkeys(token.key for token in tokens_of(question) if token.weight)) or [
        word.lower() for word in words_of(question)
    ]


def _rarity(asked: Sequence[str], units: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return for each word the logarithm of how rare units with it are, at least a little."""
    counted = Counter(word for stems in units for word in asked if word in stems)
    return {word: math.log(1 + (len(units) + 1) / (counted[word] + 1)) for word in asked}


def _entry(entry: ContextEntry, units: Sequence[_ReadUnit], rarity: dict[str, float], bonus: float) -> Iterator[Ranked]:
    title = _keys(entry.title)
    total = sum(rarity.values()) or 1.0
    before: frozenset[str] = frozenset()
    block = -1
    for place, (unit, own, above) in enumerate(units):
        near = before if unit.block == block else frozenset[str]()
        score = sum(weight * _found(word, own, above | title, near) for word, weight in rarity.items()) / total
        covered = frozenset(word for word in rarity if word in own)
        yield Ranked(entry.n, place, unit, (entry.title,), own, score + bonus, covered)
        before, block = own, unit.block


def _keys(text: str) -> frozenset[str]:
    return frozenset(token.key for token in tokens_of(text) if token.weight)


def _found(word: str, own: frozenset[str], above: frozenset[str], near: frozenset[str]) -> float:
    if word in own:
        return 1.0
    return _HEADING if word in above else _NEAR if word in near else 0.0
