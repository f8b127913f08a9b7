"""Turns text into BM25 term weights, for both stores the same: the store multiplies with IDF and adds up.

Words are lower case, without accents, without the language's stop words, and stemmed (Snowball). The tokenizer of
every text is Qdrant's `word`: runs of letters and digits. Text with Chinese or Japanese, which write no spaces
between words, or with Indic scripts, whose vowel signs are no letters, gets the words that Qdrant's `multilingual`
tokenizer finds besides. That one alone would lose every number ("§ 15", "2024", "UTF-8" becomes "utf") and takes
three times as long. Identifiers with humps count whole and by their parts. Neither tokenizer knows the words of Thai,
Lao, Khmer and Burmese: only whole runs match there.

Method: Robertson and Zaragoza, The Probabilistic Relevance Framework (2009); k 1.2, b 0.75, average length 256 words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

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
from qdrant_edge import SparseVector as EngineVector

from shared.errors import InvalidInput
from shared.vectors.store import SparseVector

_STEMMERS = {
    "ar": SnowballLanguage.Arabic, "hy": SnowballLanguage.Armenian, "da": SnowballLanguage.Danish,
    "nl": SnowballLanguage.Dutch, "en": SnowballLanguage.English, "fi": SnowballLanguage.Finnish,
    "fr": SnowballLanguage.French, "de": SnowballLanguage.German, "el": SnowballLanguage.Greek,
    "hu": SnowballLanguage.Hungarian, "it": SnowballLanguage.Italian, "no": SnowballLanguage.Norwegian,
    "nb": SnowballLanguage.Norwegian, "nn": SnowballLanguage.Norwegian, "pt": SnowballLanguage.Portuguese,
    "ro": SnowballLanguage.Romanian, "ru": SnowballLanguage.Russian, "es": SnowballLanguage.Spanish,
    "sv": SnowballLanguage.Swedish, "ta": SnowballLanguage.Tamil, "tr": SnowballLanguage.Turkish,
}  # fmt: skip
"""ISO 639-1 code to stemmer; a language without one is not stemmed."""

_STOP_WORDS = {
    "ar": Language.Arabic, "az": Language.Azerbaijani, "eu": Language.Basque, "bn": Language.Bengali,
    "ca": Language.Catalan, "zh": Language.Chinese, "da": Language.Danish, "nl": Language.Dutch,
    "en": Language.English, "fi": Language.Finnish, "fr": Language.French, "de": Language.German,
    "el": Language.Greek, "he": Language.Hebrew, "hu": Language.Hungarian, "id": Language.Indonesian,
    "it": Language.Italian, "ja": Language.Japanese, "kk": Language.Kazakh, "ne": Language.Nepali,
    "no": Language.Norwegian, "nb": Language.Norwegian, "nn": Language.Norwegian, "pt": Language.Portuguese,
    "ro": Language.Romanian, "ru": Language.Russian, "sl": Language.Slovene, "es": Language.Spanish,
    "sv": Language.Swedish, "tg": Language.Tajik, "tr": Language.Turkish,
}  # fmt: skip
"""ISO 639-1 code to stop words; a language without them keeps every word."""

_SEGMENTED = re.compile(
    "["
    "\u0900-\u0dff"  # Devanagari to Sinhala: vowel signs are no letters, so runs of letters are not words
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # kana and Han: no spaces
    "]"
)


BM25_VERSION = 1
"""Raised when the same text would give other weights: pages are worked again, and their points rewritten."""

_HUMP = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
"""Where an identifier with humps has one: a quick look, since most texts have none."""

_NAME = re.compile(r"[A-Za-z]+")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@lru_cache(maxsize=512)
def _model(language: str, tokenizer: TokenizerType) -> Bm25:
    stemmer = _STEMMERS.get(language)
    return Bm25(
        Bm25Config(
            tokenizer=tokenizer,
            lowercase=True,
            ascii_folding=True,
            stopwords=_STOP_WORDS.get(language) or StopwordsSet(),
            stemmer=SnowballParams(stemmer) if stemmer else DisabledStemmer(),
        )
    )


def _models(text: str, language: str) -> list[Bm25]:
    code = language.lower()
    known = code if code in _STEMMERS or code in _STOP_WORDS else ""
    tokenizers = [TokenizerType.Word]
    if _SEGMENTED.search(text):
        tokenizers.append(TokenizerType.Multilingual)
    return [_model(known, tokenizer) for tokenizer in tokenizers]


def _united(vectors: Iterable[EngineVector]) -> SparseVector:
    weights: dict[int, float] = {}
    for vector in vectors:
        for index, value in zip(vector.indices, vector.values, strict=True):
            weights[index] = max(value, weights.get(index, 0.0))
    return SparseVector(tuple(weights), tuple(weights.values()))


def _with_parts(text: str) -> str:
    """Return text followed by the words that its identifiers are made of: `maxAge` and `HTTPServer` have two."""
    if not _HUMP.search(text):
        return text
    names = [name for name in _NAME.findall(text) if _HUMP.search(name)]
    return " ".join([text, *(part for name in names for part in _HUMPS.findall(name))])


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("The text holds half of a surrogate pair, which is no character; remove it.") from error
    return text


class Bm25Encoder:
    """Encodes documents and queries; safe to share, holds no state but the models of the languages seen."""

    def document(self, text: str, language: str) -> SparseVector:
        """Return the term weights of a document in one language (ISO 639-1; an unknown one is neither stemmed nor cut).

        Text of stop words and signs only gives an empty vector. Raises InvalidInput for text that is not Unicode.
        """
        checked = _with_parts(_encodable(text))
        return _united(model.embed_document(checked) for model in _models(checked, language))

    def query(self, text: str, languages: Sequence[str]) -> SparseVector:
        """Return weight 1 for each term of a query, as each of the languages that documents may have spells it.

        No language: the words as they stand. Raises InvalidInput for text that is not Unicode.
        """
        checked = _with_parts(_encodable(text))
        models = dict.fromkeys(model for language in languages or ("",) for model in _models(checked, language))
        return _united(model.embed_query(checked) for model in models)
