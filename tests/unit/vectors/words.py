"""Whether a query finds a document, by its words."""

from __future__ import annotations

from shared.vectors.bm25 import Bm25Encoder
from shared.vectors.store import SparseVector

BM25 = Bm25Encoder()


def terms(vector: SparseVector) -> set[int]:
    return set(vector.indices)


def weights(vector: SparseVector) -> dict[int, float]:
    return dict(zip(vector.indices, vector.values, strict=True))


def meets(query: str, document: str, language: str, *others: str) -> bool:
    """Return whether every word of the query is in the document; other spellings of it need not be."""
    asked = {term for term, weight in weights(BM25.query(query, [language, *others])).items() if weight == 1}
    return bool(asked) and asked <= terms(BM25.document(document, language))


def touches(query: str, document: str, language: str) -> bool:
    """Return whether the document is found at all."""
    return bool(terms(BM25.query(query, [language])) & terms(BM25.document(document, language)))
