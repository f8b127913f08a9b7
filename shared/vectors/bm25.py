"""Turns text into BM25 term weights, for both stores the same: the store multiplies with IDF and adds up.

What counts as the same word is in `shared.vectors.lexical`. Words make a document longer; other spellings and parts
of a name do not, and weigh half: a page of identifiers is found by each of their words without seeming long.

Method: Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), with its usual k 1.2 and b 0.75; for the
rest see docs/adr/0009.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from shared.errors import InvalidInput
from shared.vectors.lexical.spelling import Spelling, Terms, spelling
from shared.vectors.lexical.tokens import Tokens, tokens
from shared.vectors.store import SparseVector

BM25_VERSION = 2
"""Raised when the same text would give other weights: pages are worked again, and their points rewritten."""

_K = 1.2
_B = 0.75
_AVERAGE_WORDS = 120
"""Words of a usual chunk without stop words: 77 to 167 in the judged sets. A vault's own mean would change with every
edit, and with it every weight."""
_EXTRA_WEIGHT = 0.5
"""Of parts of names and other spellings, in documents and queries: 0.25 to 1 differ little, 0.5 was best."""
_PAIR_LENGTH = 0.5
"""A word of Chinese or Japanese has about two characters."""
_STOPPED_ELSEWHERE = 0.2
"""Of a word that means nothing in the query's own language, but something in another one of the vault's."""


class Bm25Encoder:
    """Encodes documents and queries; safe to share between threads. What it keeps never changes what it returns."""

    def document(self, text: str, language: str) -> SparseVector:
        """Return the term weights of a document in one language (ISO 639-1; an unknown one is neither stemmed nor cut).

        Text of stop words and signs only gives an empty vector. Raises InvalidInput for text that is not Unicode.
        """
        weights, length = _counts(tokens(_encodable(text)), spelling(language))
        saturation = _K * (1 - _B + _B * length / _AVERAGE_WORDS)
        return SparseVector(
            tuple(weights), tuple([count * (_K + 1) / (count + saturation) for count in weights.values()])
        )

    def query(self, text: str, languages: Sequence[str]) -> SparseVector:
        """Return the weight, at most 1, of each term of a query, as each language that documents may have spells it.

        No language: the words as they stand. Raises InvalidInput for text that is not Unicode.
        """
        cut = tokens(_encodable(text))
        distinct = list(dict.fromkeys(cut.words + cut.pairs))
        spellings = dict.fromkeys(spelling(language) for language in languages or ("",))
        rows = [[each.terms(token) for token in distinct] for each in spellings]
        weights: dict[int, float] = {}
        for weight, column in zip(_weights(rows), zip(*rows, strict=True), strict=True):
            for terms in column:
                _raise_to(weights, terms.words, weight)
                _raise_to(weights, terms.extras, weight * _EXTRA_WEIGHT)
        return SparseVector(tuple(weights), tuple(weights.values()))

    def leading(self, text: str, languages: Sequence[str]) -> tuple[str, ...]:
        """Return which of the languages a query seems to be in: those of which it has most stop words, all if none."""
        cut = tokens(_encodable(text))
        distinct = list(dict.fromkeys(cut.words + cut.pairs))
        stopped = [_stopped([spelling(language).terms(token) for token in distinct]) for language in languages]
        return tuple(
            language for language, count in zip(languages, stopped, strict=True) if count == max(stopped, default=0)
        )


def _stopped(row: Sequence[Terms]) -> int:
    """Return how many of a query's tokens are stop words."""
    return sum(not terms.words for terms in row)


def _counts(cut: Tokens, language: Spelling) -> tuple[dict[int, float], float]:
    """Return term → how often it is there, and the length of the text in words."""
    single, others = language.count(cut.words + cut.pairs)
    counts: dict[int, float] = dict(single)
    count_of = counts.get
    length = sum(single.values()) - _PAIR_LENGTH * len(cut.pairs)
    for terms, times in others:
        for term in terms.words:
            counts[term] = count_of(term, 0.0) + times
        length += times * len(terms.words)
        for term in terms.extras:
            counts[term] = count_of(term, 0.0) + times * _EXTRA_WEIGHT
    for character, times in Counter(cut.characters).items():
        for term in language.terms(character).words:
            counts[term] = count_of(term, 0.0) + times * _EXTRA_WEIGHT
    return counts, max(length, 0.0)


def _weights(rows: Sequence[Sequence[Terms]]) -> list[float]:
    """Return the weight of each token, given its terms in each language.

    A query is taken to be in the language, or languages, of which it has most stop words: "die" is German in "die
    Fische" and English in "how do fish die", and only there does it say what is looked for.
    """
    stopped = [_stopped(row) for row in rows]
    leading = [row for row, count in zip(rows, stopped, strict=True) if count == max(stopped) and count > 0]
    stopping = [any(not terms.words for terms in column) for column in zip(*leading, strict=True)]
    return [_STOPPED_ELSEWHERE if stops else 1.0 for stops in stopping] or [1.0] * len(rows[0])


def _raise_to(weights: dict[int, float], terms: Iterable[int], weight: float) -> None:
    for term in terms:
        weights[term] = max(weight, weights.get(term, 0.0))


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("The text holds half of a surrogate pair, which is no character; remove it.") from error
    return text
