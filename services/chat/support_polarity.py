"""When a claim and its passage differ by a negation: the same words, and one side says not.

Blind to grammar: each clause of the claim is laid beside the clauses near by that share most of its words, and their
negations are counted. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from services.chat.support_lexicon import NEGATED_PREFIXES
from services.chat.support_matching import Match, same_number
from services.chat.support_passage import Clause, ReadPassage, ReadUnit, parts_of
from services.chat.support_words import Token

_ENOUGH = 0.4
"""Share of a claim that a clause has to have before its negation is held against the claim."""

_FAR = 0.75
"""Factor of a clause elsewhere in the passage that agrees."""

_LENT = 0.5
"""Factor of a word that a clause only leans on."""

_CLEARLY = 0.12
"""How much more of a claim another clause has to share to be the one that is meant."""


def other_polarity(part: Sequence[Token], match: Match, passage: ReadPassage) -> bool:
    """Tell whether a part of a sentence denies what its passage says, or says what that denies."""
    around = _around(match.index, passage)
    negative = any(token.negative for token in part)
    return any(_turned(clause, match, around, passage) for clause in parts_of(part)) or (
        not negative and _said_not_to_be(part, match, around)
    )


def _turned(part: Sequence[Token], match: Match, around: Sequence[ReadUnit], passage: ReadPassage) -> bool:
    """Tell whether the clause near by that shares most is negated and the claim is not, or the other way round."""
    negative = sum(token.negative for token in part) % 2 == 1
    same = opposite = 0.0
    for unit in (passage.units[index] for index in match.places):
        for clause in unit.clauses:
            share = share_of(part, clause, match)
            if clause.negative == negative or _prefixed(part, clause):
                same = max(same, share if unit in around else share * _FAR)
            elif unit in around:
                opposite = max(opposite, share)
    return opposite >= _ENOUGH and opposite > same + _CLEARLY


def _around(index: int, passage: ReadPassage) -> list[ReadUnit]:
    headings = passage.units[index].unit.headings
    return [unit for unit in passage.units[max(0, index - 1) : index + 2] if unit.unit.headings == headings]


def share_of(part: Sequence[Token], clause: Clause, match: Match) -> float:
    """Return the share of a claim's weight that a clause has, 0 to 1."""
    total = shared = 0.0
    for token in part:
        total += token.weight
        if token.kind == "number":
            shared += token.weight * any(same_number(token, other) for other in clause.numbers)
        elif token.weight:
            shared += token.weight * _credit(match.stems.get(token.key, {}), clause)
    return shared / total if total else 0.0


def _credit(alike: dict[str, float], clause: Clause) -> float:
    best = 0.0
    for stem, credit in alike.items():
        if stem in clause.stems:
            best = max(best, credit)
        elif stem in clause.lent:
            best = max(best, credit * _LENT)
    return best


def _prefixed(part: Sequence[Token], clause: Clause) -> bool:
    """Tell whether one side has a word that the other has with a negating prefix: `not locked` and `unlocked`."""
    words = {token.key for token in part if token.kind == "word"}
    return any(prefix + stem in words for stem in clause.stems for prefix in NEGATED_PREFIXES) or any(
        prefix + stem in clause.stems for stem in words for prefix in NEGATED_PREFIXES
    )


def _said_not_to_be(part: Sequence[Token], match: Match, around: Sequence[ReadUnit]) -> bool:
    """Tell whether a word of the claim stands only where is said what is not: `for bait, never for samples`."""
    clauses = [clause for unit in around for clause in unit.clauses]
    denied = [clause for clause in clauses if clause.negative and clause.fragment]
    said = [clause for clause in clauses if clause not in denied]
    for token in part:
        alike = match.stems.get(token.key, {}) if token.weight and token.kind != "number" else {}
        if any(stem in clause.stems for stem in alike for clause in denied) and not any(
            stem in clause.stems for stem in alike for clause in said
        ):
            return True
    return False
