"""Spells tokens as one language does: stop words out, accents folded, words stemmed; a term is a 31-bit hash of that.

Stemmers, stop words and the hash are Qdrant's. It is asked once for each distinct token, and the answer is kept: that
is faster than its own tokenizer on whole texts, and says for each token which terms it has.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, cast

from qdrant_edge import (
    Bm25,
    Bm25Config,
    DisabledStemmer,
    Language,
    SnowballLanguage,
    SnowballParams,
    StopwordsSet,
    TokenizerType,
)

from shared.vectors.lexical.compounds import compound_parts
from shared.vectors.lexical.languages import STEMMERS, STOP_WORDS, known
from shared.vectors.lexical.names import humps, taken_apart

KEPT_TOKENS = 65_536
"""Per language, about 8 MB; nine of ten tokens of a vault are among its most frequent ones."""
KEPT_MAX_CHARS = 64
"""A longer token is data and rarely comes twice."""


class Terms(NamedTuple):
    """The terms of one token; both empty for a stop word."""

    words: tuple[int, ...]
    """They count towards the length of a document."""
    extras: tuple[int, ...]
    """Other spellings and parts of the same token, which must not make a document longer."""


class Spelling:
    """One language; holds nothing but what it has spelled, and gives the same terms whether it has or not."""

    def __init__(self, language: str) -> None:
        """Take a code of `languages.KNOWN`, or the empty text: words as they stand."""
        stop_words, stemmer = STOP_WORDS.get(language), STEMMERS.get(language)
        self._is_german = language == "de"
        self._plain = _engine(None, None)
        self._folded = _engine(None, stemmer)
        self._unstopped = _engine(stop_words, None)
        self._simple = _engine(stop_words, stemmer)
        self._kept: dict[str, int | Terms] = {}

    @property
    def kept(self) -> int:
        """How many tokens are kept, at most KEPT_TOKENS."""
        return len(self._kept)

    def terms(self, token: str) -> Terms:
        """Return the terms of a token of `tokens`."""
        found = self._found(token)
        return Terms((found,), ()) if isinstance(found, int) else found

    def count(self, tokens: Sequence[str]) -> tuple[dict[int, int], list[tuple[Terms, int]]]:
        """Return term → how often, for the tokens that are one term each, and the terms of all others with theirs."""
        found = [*map(self._kept.get, tokens)]
        if None in found:
            found = [*map(self._found, tokens)]
        counts = cast("dict[int | Terms, int]", Counter(found))
        others = [terms for terms in counts if isinstance(terms, Terms)]
        apart = [(terms, counts.pop(terms)) for terms in others]
        return cast("dict[int, int]", counts), apart

    def _found(self, token: str) -> int | Terms:
        kept = self._kept.get(token)
        if kept is not None:
            return kept
        spelled = self._spelled(token)
        found = spelled.words[0] if len(spelled.words) == 1 and not spelled.extras else spelled
        if len(token) <= KEPT_MAX_CHARS:
            if len(self._kept) >= KEPT_TOKENS:
                self._kept.clear()
            self._kept[token] = found
        return found

    def _spelled(self, token: str) -> Terms:
        if not self._is_german and _PLAIN_WORD.fullmatch(token):
            return Terms(tuple(self._simple.embed_query(token).indices), ())
        name = taken_apart(token)
        if name.words == [token]:
            return Terms(self._word(token), self._parts(token))
        words = [self.terms(word) for word in name.words]
        extras = [term for each in words for term in each.extras]
        extras += self._word(name.whole) if name.whole else ()
        extras += [term for signed in name.signed for term in self._plain.embed_query(signed).indices]
        return Terms(tuple(term for each in words for term in each.words), tuple(extras))

    def _parts(self, word: str) -> tuple[int, ...]:
        """Return the terms of a word's parts, and of theirs."""
        parts = humps(word) or (compound_parts(word) if self._is_german else ())
        return tuple(term for part in parts for terms in self.terms(part) for term in terms)

    def _word(self, word: str) -> tuple[int, ...]:
        """Return the one term of a word, or none. Stop words have accents: they are looked up before folding."""
        if (word.isascii() and not self._is_german) or word[0] >= _SIMPLE_FROM:
            return tuple(self._simple.embed_query(word).indices)
        if not self._unstopped.embed_query(word).indices:
            return ()
        folded = word.lower()
        if not word.isascii():
            folded = folded.translate(_FOLDED)
        if self._is_german and ("ae" in folded or "oe" in folded or "ue" in folded):
            folded = _UMLAUT.sub(lambda match: match[0][0], folded)
        return tuple(self._folded.embed_query(folded).indices)


@lru_cache(maxsize=64)
def spelling(language: str) -> Spelling:
    """Return the spelling of a language by its ISO 639-1 code in any case; unknown ones share one."""
    return _spelling(known(language))


@lru_cache(maxsize=64)
def _spelling(language: str) -> Spelling:
    return Spelling(language)


def _engine(stop_words: Language | None, stemmer: SnowballLanguage | None) -> Bm25:
    """Return what spells one token; only what folds no accents knows stop words with accents."""
    return Bm25(
        Bm25Config(
            tokenizer=TokenizerType.Whitespace,
            lowercase=True,
            ascii_folding=stop_words is None or stemmer is not None,
            stopwords=stop_words or StopwordsSet(),
            stemmer=SnowballParams(stemmer) if stemmer else DisabledStemmer(),
        )
    )


_PLAIN_WORD = re.compile(r"[A-Z]?[a-z]+|[0-9]+")
"""Most new tokens: nothing to take apart, no accents to fold."""

_SIMPLE_FROM = "\u2e80"
"""From here on, Han and the like: neither case nor accents."""


def _folds() -> dict[int, str | None]:
    """Return what the engine does not fold: accents of Greek and loose ones, points of Arabic and Hebrew, ё, ς."""
    loose = (*range(0x300, 0x370), *range(0x591, 0x5BE), *range(0x5BF, 0x5C8), 0x640, *range(0x64B, 0x653), 0x670)
    greek = (*range(0x370, 0x400), *range(0x1F00, 0x2000))
    folds: dict[int, str | None] = dict.fromkeys(loose)
    folds.update((code, unicodedata.normalize("NFD", chr(code))[0]) for code in greek)
    folds.update({ord("ё"): "е", ord("ς"): "σ"})
    return folds


_FOLDED = _folds()
_UMLAUT = re.compile(r"ae|oe|(?<![aeiouqäöü])ue")
"""Überprüfung, Ueberpruefung, Uberprufung: one word, by the rules of Lucene's GermanNormalizationFilter."""
