"""When a claim says something else than the unit of the passage that it fits: words alike, statement not.

Each rule is blind to grammar and wants evidence on both sides: a negation on one side only, a number beside another
number of the same measure, an opposite (more/less, before/after), another day, colour or direction, another subject,
another order. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from services.chat.support_lexicon import ONE_AFTER_ANOTHER, ONE_OF, OPPOSITES, THAN
from services.chat.support_matching import Match, has_number, same_number
from services.chat.support_passage import ReadPassage, ReadUnit
from services.chat.support_polarity import other_polarity, share_of
from services.chat.support_words import Token, tokens_of

_CLEARLY = 0.12
"""How much more of a claim's words another clause has to have to be the one that is meant."""


def conflicts(part: Sequence[Token], sentence: Sequence[Token], match: Match, passage: ReadPassage) -> bool:
    """Tell whether `part` of a sentence speaks against the unit that it was matched with."""
    unit = passage.units[match.index]
    return (
        other_polarity(part, match, passage)
        or _other_number(part, match, unit, passage)
        or _number_of_another(part, match, passage)
        or _opposite(part, unit)
        or _another_of_a_kind(part, unit)
        or _other_column(part, unit)
        or _number_in_another_clause(part, match, unit)
        or _another_subject(part, match, unit, passage)
        or _other_order(part, sentence, unit, passage)
    )


def _other_number(part: Sequence[Token], match: Match, unit: ReadUnit, passage: ReadPassage) -> bool:
    """Tell whether a number is missing while the unit has another one of its measure that the claim lacks."""
    claimed = [token for token in part if token.kind == "number"]
    leaned_on = [passage.units[at] for at, factor in passage.near[match.index] if factor == 1.0]
    for token in claimed:
        if has_number(token, unit):
            if _of_another_measure(token, unit, passage):
                return True
        elif not any(has_number(token, other) for other in leaned_on):
            rivals = [other for other in unit.numbers if not any(same_number(other, each) for each in claimed)]
            if any(_comparable(token, other) for other in rivals):
                return True
    return False


def _comparable(one: Token, other: Token) -> bool:
    """Tell whether two numbers could stand for the same thing: one measure, or one value of two measures."""
    units = {one.unit, other.unit}
    return len(units) == 1 or (None in units and "id" not in units) or not one.readings.isdisjoint(other.readings)


def _of_another_measure(token: Token, unit: ReadUnit, passage: ReadPassage) -> bool:
    """Tell whether the unit has the number without a measure, and the passage only with another measure."""
    if token.unit is None or any(token.unit == other.unit for other in unit.numbers if same_number(token, other)):
        return False
    same_value = [
        other for each in passage.units for other in each.numbers if not token.readings.isdisjoint(other.readings)
    ]
    measures = {other.unit for other in same_value if other.unit is not None}
    return bool(measures) and token.unit not in measures


def _number_of_another(part: Sequence[Token], match: Match, passage: ReadPassage) -> bool:
    """Tell whether another row or item fits the claim's words better, but lacks its number."""
    numbers = [token for token in part if token.kind == "number" and token.unit != "id"]
    words = [token for token in part if token.weight and token.kind != "number"]
    unit = passage.units[match.index]
    if not numbers or len(words) < 1 or unit.unit.kind not in {"row", "item"}:
        return False
    mine = _words_found(words, unit, match)
    return any(
        _words_found(words, other, match) > mine + 0.5
        for other in passage.units
        if other.unit.block == unit.unit.block and not all(has_number(number, other) for number in numbers)
    )


def _words_found(words: Sequence[Token], unit: ReadUnit, match: Match) -> float:
    return sum(
        token.weight
        * max((credit for stem, credit in match.stems[token.key].items() if stem in unit.stems), default=0.0)
        for token in words
    )


_OPPOSED: dict[str, list[tuple[frozenset[str], frozenset[str]]]] = {}
for _one, _other in OPPOSITES:
    for _word in _one:
        _OPPOSED.setdefault(_word, []).append((_one, _other))
    for _word in _other:
        _OPPOSED.setdefault(_word, []).append((_other, _one))


def _opposite(part: Sequence[Token], unit: ReadUnit) -> bool:
    said = {token.surface for token in part}
    for word in said & _OPPOSED.keys():
        for own, other in _OPPOSED[word]:
            if not said & other and unit.surfaces & other and not unit.surfaces & own:
                return True
    return False


def _another_of_a_kind(part: Sequence[Token], unit: ReadUnit) -> bool:
    said = {token.surface for token in part}
    for members in ONE_OF:
        named = [member for member in members if said & member]
        there = [member for member in members if unit.surfaces & member]
        if named and there and any(member not in there for member in named):
            return True
    return False


def _other_column(part: Sequence[Token], unit: ReadUnit) -> bool:
    """Tell whether a number stands under another header than the one that the claim names."""
    headers = [(_named(header, part), tokens_of(cell)) for header, cell in unit.unit.cells[1:]]
    if not any(named for named, _ in headers):
        return False
    for token in part:
        under = [named for named, cell in headers if any(same_number(token, other) for other in cell)]
        if token.kind == "number" and under and not any(under):
            return True
    return False


def _named(header: str, part: Sequence[Token]) -> bool:
    """Tell whether a claim names a header, whole."""
    words = [token for token in tokens_of(header) if token.weight]
    return bool(words) and all(any(word.key == token.key for token in part) for word in words)


def _number_in_another_clause(part: Sequence[Token], match: Match, unit: ReadUnit) -> bool:
    """Tell whether the claim's number stands in one clause, and its words in another that has a number of its own."""
    numbers = [token for token in part if token.kind == "number"]
    words = [token for token in part if token.weight and token.kind != "number"]
    if unit.unit.cells or not numbers or not words:
        return False
    counted = [clause for clause in unit.clauses if clause.numbers]
    mine = [
        clause for clause in counted if any(same_number(token, each) for token in numbers for each in clause.numbers)
    ]
    others = [clause for clause in counted if clause not in mine]
    best_mine = max((share_of(words, clause, match) for clause in mine), default=0.0)
    best_other = max((share_of(words, clause, match) for clause in others), default=0.0)
    return bool(mine) and best_other > best_mine + _CLEARLY


def _another_subject(part: Sequence[Token], match: Match, unit: ReadUnit, passage: ReadPassage) -> bool:
    """Tell whether the claim's names are all missing where the unit has names of its own. Not for German nouns."""
    names = [token for token in part if token.kind == "name"]
    there = {token.key for token in unit.tokens if token.kind == "name"}
    if passage.language == "de" or not names or not there or match.score < _MOSTLY:
        return False
    known = unit.stems | unit.context
    missing = [token for token in names if not any(stem in known for stem in match.stems[token.key])]
    if len(missing) == len(names):
        return True
    nowhere = any(not match.stems[token.key] for token in missing)
    return nowhere and match.score >= _WELL and bool(there - {token.key for token in names})


_MOSTLY = 0.3
_WELL = 0.55
"""Scores from which a claim is taken to be about something else, not only to say more: without all its names, and with
one that the passage does not know."""


def _other_order(part: Sequence[Token], sentence: Sequence[Token], unit: ReadUnit, passage: ReadPassage) -> bool:
    """Tell whether what a claim puts first comes last: in a sequence, or on the two sides of a comparison."""
    said = {token.surface for token in sentence}
    if said & ONE_AFTER_ANOTHER and {token.surface for token in unit.tokens} & ONE_AFTER_ANOTHER:
        return _reversed(_terms(sentence), unit)
    return bool(said & THAN) and any(_reversed_pair(part, each) for each in passage.units if not each.unit.cells)


def _terms(tokens: Sequence[Token]) -> list[str]:
    return [token.key for token in tokens if token.weight and token.kind != "number"]


def _reversed(terms: Sequence[str], unit: ReadUnit) -> bool:
    there = _terms(unit.tokens)
    places = [there.index(term) for term in dict.fromkeys(terms) if there.count(term) == 1]
    ordered = sum(one < other for at, one in enumerate(places) for other in places[at + 1 :])
    pairs = len(places) * (len(places) - 1) // 2
    return pairs >= 1 and ordered * 3 < pairs


def _reversed_pair(part: Sequence[Token], unit: ReadUnit) -> bool:
    """Tell whether a unit says of the claim's second side of `than` what the claim says of its first."""
    than = next((at for at, token in enumerate(part) if token.surface in THAN), -1)
    before, after = _terms(part[: max(than, 0)]), _terms(part[than + 1 :])
    if not before[1:] or not after:
        return False
    compared = sum(term in unit.stems for term in before[1:])
    first = next(iter(_terms(unit.tokens)), "")
    return first in after and before[0] not in unit.stems and compared * 2 > len(before[1:])
