"""Compares a cited sentence with its passages, without any model: quoted, supported, weak or unsupported.

A quote is found word for word, whatever its case, punctuation, typography and Markdown. Anything else is taken apart
into what it claims between commas; each part is laid beside the unit of the passage that shares most of it, weighed by
how much a word says (numbers most), with up to two neighbours helping. A part that says something else than that unit
(services.chat.support_conflicts) is not supported, however many words it shares. Deterministic and pure; about a
millisecond once a passage was read. A statement in another language than its passage is held to its numbers and names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.chat.languages import language_of
from services.chat.ports import Support
from services.chat.sentences import readable
from services.chat.support_conflicts import conflicts
from services.chat.support_matching import Match, best_match
from services.chat.support_passage import ReadPassage, parts_of, read_passages
from services.chat.support_words import Token, plain_words, tokens_of
from shared.contracts.chat import SupportLabel

SUPPORTED = 0.62
WEAK = 0.36
"""Scores from which a sentence counts as that. Set on two thirds of the labelled cases; see their test."""

_EACH_PART = 0.4
"""Score that every part of a supported sentence has."""

_CONTRADICTED = 0.3
"""Factor of a score when a part says something else than its passage."""

_MUCH_MORE = 3.2
"""Weight of words in a row that the passage lacks, three or so, from which a sentence says more than its passage."""

_QUOTE_WORDS = 5
"""From as many words on a run of them is a quote; a shorter one when it is a unit of its own."""

_PART_WEIGHT = 2.5
"""A claim of its own has two or three words."""


class OverlapSupport:
    """Implements SupportCheck."""

    def check(self, sentence: str, passages: Sequence[str]) -> Support:
        """See SupportCheck.check."""
        passage = read_passages(passages)
        tokens = tokens_of(readable(sentence))
        if not passage.units or not any(token.weight for token in tokens):
            return Support("unsupported", 0.0)
        if _is_quote(sentence, passage):
            return Support("quoted", 1.0)
        if language_of(sentence) != passage.language and (abroad := _across_languages(tokens, passage)):
            return abroad
        return _compared(tokens, passage)


def _is_quote(sentence: str, passage: ReadPassage) -> bool:
    words = plain_words(readable(sentence))
    if words in passage.wholes:
        return True
    long_enough = words.count(" ") - 1 >= _QUOTE_WORDS
    if not long_enough or not any(words in stream for stream in passage.streams):
        return False
    return not _leaves_out_a_negation(words, passage)


def _leaves_out_a_negation(words: str, passage: ReadPassage) -> bool:
    """Tell whether the quote begins or ends amid a clause whose rest is negated (`nobody …`, `… is not true`)."""
    for unit in passage.units:
        whole = plain_words(unit.unit.text)
        if words in whole:
            rest = whole.replace(words, " ", 1)
            quoted = sum(token.negative for token in tokens_of(words))
            return any(
                part_negative and len(part) < _SHORT_REST
                for part in parts_of(tokens_of(rest))
                if (part_negative := any(token.negative for token in part)) and not quoted
            )
    return False


_SHORT_REST = 4
"""Tokens: a longer rest is a statement of its own."""


@dataclass(frozen=True, slots=True)
class _Judged:
    match: Match
    contradicted: bool


def _compared(tokens: Sequence[Token], passage: ReadPassage) -> Support:
    parts = parts_of(tokens, least=_PART_WEIGHT)
    judged = [_judged(part, tokens, passage) for part in parts]
    weights = [sum(token.weight for token in part) for part in parts]
    shares = [each.match.score for each in judged]
    score = sum(weight * share for weight, share in zip(weights, shares, strict=True)) / sum(weights)
    if any(each.contradicted for each in judged):
        return Support("unsupported", round(score * _CONTRADICTED, 3))
    label = _label(score, shares)
    if label == "supported" and any(each.match.adds > _MUCH_MORE for each in judged):
        label = "weak"
    return Support(label, round(score, 3))


def _judged(part: Sequence[Token], sentence: Sequence[Token], passage: ReadPassage) -> _Judged:
    match = best_match(part, passage)
    return _Judged(match, match.score >= WEAK / 2 and conflicts(part, sentence, match, passage))


def _label(score: float, shares: Sequence[float]) -> SupportLabel:
    if score >= SUPPORTED and min(shares) >= _EACH_PART:
        return "supported"
    return "weak" if score >= WEAK or max(shares) >= SUPPORTED else "unsupported"


def _across_languages(tokens: Sequence[Token], passage: ReadPassage) -> Support | None:
    """Judge by numbers and names what is said in another language; None when the words suffice, or there are none."""
    match = best_match(tokens, passage)
    facts = [token for token in tokens if token.kind in {"number", "name"}]
    if match.score >= SUPPORTED or not facts:
        return None
    found = sum(token in match.found for token in facts)
    if found < len(facts):
        return None
    return Support("supported" if found > 1 else "weak", round(0.5 + 0.1 * min(found, 4), 3))
