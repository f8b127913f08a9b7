"""Which unit of a passage says most of what a claim says, and what of the claim it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.chat.support_passage import ReadPassage, ReadUnit
from services.chat.support_words import NUMBER_WEIGHT, Token

_HEADING = 0.8
_ELSEWHERE = 0.35
"""Credit of a word that only a heading above, or any heading of the passage, has."""

_NUMBER_OF_ANOTHER = 0.5
"""Factor when a number of the claim is nowhere near."""

_OWN_WORDS = 0.05
"""What a unit's own words count above those of its neighbours: enough to choose between two that help each other."""

_MEASURE_LEFT_OPEN = 0.9
"""Credit of a number with a measure where the passage has it without."""

Credits = Sequence[dict[int, float]]
"""For each term of a claim: unit to how surely it has the term, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Match:
    """A claim beside the unit that it fits best."""

    score: float
    """Share of the claim's weight that is found, 0 to 1."""
    index: int
    """Of the unit; -1: none shares anything."""
    found: frozenset[Token]
    stems: dict[str, dict[str, float]]
    """Stem of the claim to the passage's stems that may be the same word."""
    places: frozenset[int]
    """Units that share anything with the claim."""
    adds: float = 0.0
    """Weight of the longest run of words that are neither in the unit nor near it."""


def best_match(claim: Sequence[Token], passage: ReadPassage) -> Match:
    """Return the best unit; of equals the first that is no heading."""
    terms = [token for token in claim if token.weight]
    stems = {token.key: passage.alike(token.key) for token in terms if token.kind != "number"}
    credits = [_credits(token, stems, passage) for token in terms]
    places = frozenset(index for each in credits for index in each)
    best, at = 0.0, -1
    for index in sorted(places, key=lambda index: (passage.units[index].unit.kind == "heading", index)):
        alone = sum(token.weight * each.get(index, 0.0) for token, each in zip(terms, credits, strict=True))
        score = _score(terms, credits, index, passage) + _OWN_WORDS * alone
        if score > best + 1e-9:
            best, at = score, index
    if at < 0:
        return Match(0.0, -1, frozenset(), stems, places)
    total = sum(token.weight for token in terms) * (1 + _OWN_WORDS)
    found = frozenset(token for token, each in zip(terms, credits, strict=True) if at in each)
    return Match(min(1.0, best / total), at, found, stems, places, _adds(terms, credits, at, passage))


def has_number(token: Token, unit: ReadUnit) -> bool:
    """Tell whether the unit has the number, with the same measure where both name one."""
    return any(same_number(token, other) for other in unit.numbers)


def same_number(one: Token, other: Token) -> bool:
    """Tell whether two numbers may be the same."""
    fits = one.unit == other.unit or (
        (one.unit is None or other.unit is None) and _in_digits(one) and _in_digits(other)
    )
    return fits and not one.readings.isdisjoint(other.readings)


def _in_digits(token: Token) -> bool:
    """Tell whether a number is not in words: `two hours` is not the 2 of `flag 2`."""
    return token.weight == NUMBER_WEIGHT


def _credits(token: Token, stems: dict[str, dict[str, float]], passage: ReadPassage) -> dict[int, float]:
    if token.kind != "number":
        found: dict[int, float] = {}
        for stem, credit in stems[token.key].items():
            for index in passage.places.get(stem, ()):
                found[index] = max(credit, found.get(index, 0.0))
        return found
    return {
        index: 1.0 if any(same_number(token, other) and other.unit == token.unit for other in numbers) or not token.unit
        else _MEASURE_LEFT_OPEN
        for index, numbers in passage.numbered
        if any(same_number(token, other) for other in numbers)
    }  # fmt: skip


def _score(terms: Sequence[Token], credits: Credits, index: int, passage: ReadPassage) -> float:
    context = passage.units[index].context
    near = passage.near[index]
    score = 0.0
    missing_number = False
    for token, units in zip(terms, credits, strict=True):
        credit = units.get(index, 0.0)
        if credit < 1.0:
            for other, factor in near:
                if other in units:
                    credit = max(credit, units[other] * factor)
            if token.key in context:
                credit = max(credit, _HEADING)
            elif token.key in passage.names:
                credit = max(credit, _ELSEWHERE)
            missing_number = missing_number or (token.kind == "number" and not credit)
        score += token.weight * credit
    return score * _NUMBER_OF_ANOTHER if missing_number else score


def _adds(terms: Sequence[Token], credits: Credits, index: int, passage: ReadPassage) -> float:
    near = (index, *(other for other, _ in passage.near[index]))
    longest = run = 0.0
    for token, units in zip(terms, credits, strict=True):
        heard = token.key in passage.names or any(other in units for other in near)
        run = 0.0 if heard else run + token.weight
        longest = max(longest, run)
    return longest
