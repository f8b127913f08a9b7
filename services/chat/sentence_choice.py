"""Which of the ranked units make the answer: few, no two alike, each with something of its own, in a readable order.

The best unit comes first. Another one joins when it is nearly as good and adds words of the question, or is a very good
one of another passage. Where words alone chose one sentence that leaves some of the question open, the next one of its
paragraph follows. Units of one passage keep its order; a list follows the sentence that announces it. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.chat.sentence_ranking import Ranked, Ranking

MOST_CHOSEN = 4
_MOST_ITEMS = 8
"""Sentences of an answer; items of a list behind the sentence that announces it."""

_WORDS = 3.0
"""Log odds that a full match by words adds to what the model says."""

_MODEL_FLOOR = -3.5
_WORDS_FLOOR = 0.32
"""Scores under which a unit answers nothing: by the model, and by words where no model reads."""

_NEAR_BEST = 4.5
_NEAR_BEST_BY_WORDS = 0.25
"""How far below the best one a further unit may be."""

_SAME_PASSAGE = 3.0
_SURE = 2.0
"""A further unit that adds no word of the question must be this close, or this good in another passage (log odds)."""

_LEAVES_NOTHING_OPEN = 0.8
"""Share of the question's words, by rarity, from which a sentence that words chose needs none behind it."""

_ALIKE = 0.7
"""Share of the shorter one's words that makes two units say the same."""

_FEWEST_WORDS = 3
"""Of a unit that can answer; a number answers alone."""

_WANTS_CODE = re.compile(
    r"\b(?:code|command|commands|snippet|syntax|example|configure|configuration|config|script|function|query|cli|shell|yaml"
    r"|json|curl|befehl|befehle|beispiel|quelltext|skript|konfiguration|commande|commandes|exemple|extrait)\b",
    re.IGNORECASE,
)
_LONGEST_CODE_LINES = 40


@dataclass(frozen=True, slots=True)
class Chosen:
    """A unit of the answer."""

    ranked: Ranked
    score: float


def choose(ranking: Ranking) -> list[Ranked]:
    """Return the units of the answer in the order to be read; none when the passages don't answer."""
    scored = sorted(_scored(ranking), key=lambda each: (-each.score, each.ranked.n, each.ranked.place))
    if not scored or scored[0].score < _floor(ranking):
        return []
    chosen: list[Chosen] = []
    for candidate in scored:
        if len(chosen) == MOST_CHOSEN:
            break
        near = candidate.score >= max(scored[0].score - _margin(ranking), _floor(ranking))
        if (near or (chosen and _goes_on(candidate.ranked, chosen))) and _adds(candidate, chosen, ranking, near=near):
            chosen.append(candidate)
    ordered = _ordered(_with_next([each.ranked for each in chosen], ranking))
    return _with_code(_with_lists(ordered, ranking), ranking)


def _scored(ranking: Ranking) -> list[Chosen]:
    by_model = ranking.most_by_model is not None
    return [
        Chosen(each, (each.model or 0.0) + _WORDS * each.words if by_model else each.words)
        for each in ranking.units
        if _may_answer(each) and (each.model is not None or not by_model)
    ]


def _may_answer(ranked: Ranked) -> bool:
    """Tell whether a unit says something: no heading, no question, not a word or two."""
    if ranked.unit.kind in {"heading", "code"} or ranked.unit.text.endswith(("?", "？")):
        return False
    text = ranked.unit.text
    dense = not text.isascii() and len(text) >= 2 * _FEWEST_WORDS
    return len(text.split()) >= _FEWEST_WORDS or dense or any(character.isdigit() for character in text)


def _floor(ranking: Ranking) -> float:
    return _WORDS_FLOOR if ranking.most_by_model is None else _MODEL_FLOOR + _WORDS * _WORDS_FLOOR


def _margin(ranking: Ranking) -> float:
    return _NEAR_BEST_BY_WORDS if ranking.most_by_model is None else _NEAR_BEST


def _goes_on(ranked: Ranked, chosen: Sequence[Chosen]) -> bool:
    """Tell whether a unit stands directly behind the best one, in its paragraph or list."""
    return _stands_behind(ranked, chosen[0].ranked)


def _stands_behind(ranked: Ranked, best: Ranked) -> bool:
    return (ranked.n, ranked.place, ranked.unit.block) == (best.n, best.place + 1, best.unit.block)


def _with_next(chosen: list[Ranked], ranking: Ranking) -> list[Ranked]:
    """Add the sentence behind a single one: words find what is spoken of, and what is said of it often comes next."""
    if len(chosen) != 1 or ranking.most_by_model is not None:
        return chosen
    (best,) = chosen
    found = sum(ranking.rarity[word] for word in best.covered)
    if best.unit.kind != "sentence" or found > _LEAVES_NOTHING_OPEN * sum(ranking.rarity.values()):
        return chosen
    return chosen + [each for each in ranking.units if _continues(each, best)]


def _continues(ranked: Ranked, best: Ranked) -> bool:
    return _stands_behind(ranked, best) and _may_answer(ranked) and not _alike(ranked, best)


def _adds(candidate: Chosen, chosen: Sequence[Chosen], ranking: Ranking, *, near: bool) -> bool:
    if not chosen:
        return True
    if any(_alike(candidate.ranked, each.ranked) for each in chosen):
        return False
    covered = frozenset[str]().union(*(each.ranked.covered for each in chosen))
    new = sum(ranking.rarity[word] for word in candidate.ranked.covered - covered)
    if new > 0.1 * sum(ranking.rarity.values()):
        return True
    if ranking.most_by_model is None or not near:
        return False
    elsewhere = candidate.ranked.n not in {each.ranked.n for each in chosen}
    close = candidate.score >= chosen[0].score - _SAME_PASSAGE
    return close and (candidate.ranked.model or 0.0) >= _SURE and (elsewhere or len(chosen) < 2)


def _alike(one: Ranked, other: Ranked) -> bool:
    shorter = min(len(one.stems), len(other.stems))
    same_figures = _figures(one) == _figures(other)
    return bool(shorter) and same_figures and len(one.stems & other.stems) >= _ALIKE * shorter


def _figures(ranked: Ranked) -> frozenset[str]:
    return frozenset(re.findall(r"\d+", ranked.unit.text))


def _ordered(chosen: Sequence[Ranked]) -> list[Ranked]:
    """Return the units passage by passage, the one with the best unit first; within one in its own order."""
    passages = list(dict.fromkeys(each.n for each in chosen))
    return [each for n in passages for each in sorted(chosen, key=lambda each: each.place) if each.n == n]


def _with_lists(chosen: Sequence[Ranked], ranking: Ranking) -> list[Ranked]:
    """Put the items of a list behind the sentence that announces it."""
    by_place = {(each.n, each.place): each for each in ranking.units}
    answer: list[Ranked] = []
    for each in chosen:
        if each in answer:
            continue
        answer.append(each)
        following = by_place.get((each.n, each.place + 1))
        while each.unit.text.endswith((":", "：")) and following and following.unit.kind == "item":
            if following.unit.headings != each.unit.headings or len(answer) >= MOST_CHOSEN + _MOST_ITEMS:
                break
            answer += [following] if following not in answer else []
            following = by_place.get((each.n, following.place + 1))
    return answer


def _with_code(chosen: list[Ranked], ranking: Ranking) -> list[Ranked]:
    """Add the code block that is nearest to the answer's best unit, or fits the question best, if code is asked for."""
    if not chosen or not _WANTS_CODE.search(ranking.question):
        return chosen
    blocks = [each for each in ranking.units if each.unit.kind == "code" and _is_short(each)]
    same = [each for each in blocks if any(_under_one_heading(each, other) for other in chosen)]
    best = max(same or blocks, key=lambda each: (each.words, -each.n, -each.place), default=None)
    return chosen if best is None or (not same and not best.covered) else [*chosen, best]


def _is_short(ranked: Ranked) -> bool:
    return ranked.unit.text.count("\n") <= _LONGEST_CODE_LINES


def _under_one_heading(one: Ranked, other: Ranked) -> bool:
    return one.n == other.n and one.unit.headings == other.unit.headings
