"""An embedder without a model: signed feature hashing of words and word pairs, for tests and benches.

Source: Weinberger et al., Feature Hashing for Large Scale Multitask Learning, ICML 2009. Texts that share words are
near one another, so that searches make sense; a text gives the same vector in every process and on every machine.
"""

from __future__ import annotations

import re
from zlib import crc32

import numpy as np
import numpy.typing as npt

from shared.embedding.embedder import Vector, Vectors

_UNSPACED = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
"""Characters of scripts that are written without spaces: each is a word of its own."""

_WORD_BYTES = bytes(b if b >= 0x80 else ord(chr(b).lower()) if chr(b).isalnum() else 0x20 for b in range(256))
"""UTF-8 bytes to words: ASCII letters in lower case, other ASCII as blank, bytes of other scripts as they are."""

_PAIR = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)
"""Odd 64-bit multipliers (Fibonacci hashing; Degski's mixer): high bits of a product depend on every bit of a word."""


class HashingEmbedder:
    """Deterministic unit vectors; counts what it is asked, so that a test can say that nothing was embedded twice."""

    def __init__(self, dimension: int = 256) -> None:
        self.calls = 0
        """Calls of embed_documents and embed_query."""
        self.document_texts = 0
        """Texts that embed_documents was given, over all calls."""
        self.query_texts = 0
        """Queries embedded."""
        self._dimension = dimension

    @property
    def model(self) -> str:
        """Name of the model, part of the space's name."""
        return "hashing"

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return self._dimension

    async def embed_documents(self, texts: list[str]) -> Vectors:
        """Return one unit vector per text, in order; a text without any word gives the first axis."""
        self.calls += 1
        self.document_texts += len(texts)
        return self._embed(texts)

    async def embed_query(self, text: str) -> Vector:
        """Return what embed_documents returns for the text."""
        self.calls += 1
        self.query_texts += 1
        return self._embed([text])[0]

    async def aclose(self) -> None:
        """Do nothing: there is nothing to release."""

    def _embed(self, texts: list[str]) -> Vectors:
        """Count the features of all texts in one array: per text, numpy's calls cost more than their work."""
        of_text = [_features(text) for text in texts]
        features = np.concatenate(of_text) if of_text else np.empty(0, np.uint64)
        signs = np.where(features >> np.uint64(63), 1.0, -1.0)
        slots = ((features >> np.uint64(24)) & np.uint64(0xFFFFFFFF)).astype(np.int64) % self._dimension
        rows = np.repeat(np.arange(len(texts)) * self._dimension, [len(each) for each in of_text])
        counts = np.bincount(rows + slots, weights=signs, minlength=len(texts) * self._dimension)
        vectors = counts.reshape(len(texts), self._dimension).astype(np.float32)
        vectors[~vectors.any(axis=1), 0] = 1.0
        lengths: Vectors = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / lengths


def _features(text: str) -> npt.NDArray[np.uint64]:
    """Return 64 mixed bits per word and per pair of neighbours."""
    if not text.isascii():
        text = _UNSPACED.sub(r" \g<0> ", text.lower())
    words = text.encode("utf-8", "replace").translate(_WORD_BYTES).split()
    hashes = np.fromiter(map(crc32, words), dtype=np.uint64, count=len(words))
    pairs = hashes[:-1] * _PAIR + hashes[1:]
    return np.concatenate((hashes, pairs)) * _MIX
