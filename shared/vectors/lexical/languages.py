"""Which languages the engine stems, and whose stop words it knows, by ISO 639-1 code."""

from __future__ import annotations

from qdrant_edge import Language, SnowballLanguage

STEMMERS = {
    "ar": SnowballLanguage.Arabic, "hy": SnowballLanguage.Armenian, "da": SnowballLanguage.Danish,
    "nl": SnowballLanguage.Dutch, "en": SnowballLanguage.English, "fi": SnowballLanguage.Finnish,
    "fr": SnowballLanguage.French, "de": SnowballLanguage.German, "el": SnowballLanguage.Greek,
    "hu": SnowballLanguage.Hungarian, "it": SnowballLanguage.Italian, "no": SnowballLanguage.Norwegian,
    "nb": SnowballLanguage.Norwegian, "nn": SnowballLanguage.Norwegian, "pt": SnowballLanguage.Portuguese,
    "ro": SnowballLanguage.Romanian, "ru": SnowballLanguage.Russian, "es": SnowballLanguage.Spanish,
    "sv": SnowballLanguage.Swedish, "ta": SnowballLanguage.Tamil, "tr": SnowballLanguage.Turkish,
}  # fmt: skip
"""A language without one is not stemmed."""

STOP_WORDS = {
    "ar": Language.Arabic, "az": Language.Azerbaijani, "eu": Language.Basque, "bn": Language.Bengali,
    "ca": Language.Catalan, "zh": Language.Chinese, "da": Language.Danish, "nl": Language.Dutch,
    "en": Language.English, "fi": Language.Finnish, "fr": Language.French, "de": Language.German,
    "el": Language.Greek, "he": Language.Hebrew, "hu": Language.Hungarian, "id": Language.Indonesian,
    "it": Language.Italian, "ja": Language.Japanese, "kk": Language.Kazakh, "ne": Language.Nepali,
    "no": Language.Norwegian, "nb": Language.Norwegian, "nn": Language.Norwegian, "pt": Language.Portuguese,
    "ro": Language.Romanian, "ru": Language.Russian, "sl": Language.Slovene, "es": Language.Spanish,
    "sv": Language.Swedish, "tg": Language.Tajik, "tr": Language.Turkish,
}  # fmt: skip
"""A language without them keeps every word."""

KNOWN = frozenset(STEMMERS) | frozenset(STOP_WORDS)


def known(language: str) -> str:
    """Return the code in lower case if anything is known of that language, else the empty text."""
    code = language.lower()
    return code if code in KNOWN else ""
