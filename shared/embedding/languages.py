"""Which languages a model was made for, as far as its name says it.

A dense ranking in a language that its model does not know is close to chance; fused with the lexical one as an equal,
it only pulls that one down. Names of published models say their language by a token (`bge-small-en-v1.5`); the few
known ones that don't are listed.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r"[a-z0-9]+")
_CODES = frozenset({"ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "zh"})
_ENGLISH = (
    "all-minilm-l6", "all-minilm-l12", "all-mpnet-base", "multi-qa-minilm", "nomic-embed-text-v1", "mxbai-embed-large",
    "e5-small-v2", "e5-base-v2", "e5-large-v2", "gte-small", "gte-base", "gte-large",
)  # fmt: skip
"""Beginnings of names of models for English that don't say so; their multilingual kin have other names."""


def model_languages(model: str) -> frozenset[str] | None:
    """Return ISO 639-1 codes of the languages that a model was made for; None: any, or nobody knows."""
    name = model.lower().rpartition("/")[2]
    if name.startswith(_ENGLISH):
        return frozenset({"en"})
    return frozenset(_CODES.intersection(_TOKEN.findall(name))) or None
