"""Nearest chunks by the cosine of embeddings: the only retriever that makes an inference call, one per request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from services.retrieval.retriever import Hit, RetrievalQuery, Retrieved, VectorSearch
from shared.embedding.embedder import Embedder, Space, Vector
from shared.embedding.languages import model_languages
from shared.errors import DeadlineExceeded, RetryableError, Unavailable
from shared.vectors.store import PointQuery, ScoredPoint


class DenseRetriever:
    """Embeds the query and asks the store for its nearest chunks; chunks without a dense vector are not found."""

    def __init__(self, store: VectorSearch, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._languages = model_languages(embedder.model)
        self._family = _family(Space(embedder.model, embedder.dimension, chunker_version=0).name)

    def knows(self, languages: Sequence[str]) -> bool:
        """Tell whether the model was made for one of the languages; none: nobody knows, so it may be."""
        return self._languages is None or not languages or not self._languages.isdisjoint(languages)

    def knows_all(self, languages: Sequence[str]) -> bool:
        """Tell whether the model was made for every one of the languages."""
        return self._languages is None or self._languages.issuperset(languages)

    async def retrieve(self, query: RetrievalQuery) -> Retrieved:
        """Return the nearest chunks, scored by cosine. Raises RetryableError when embedding or store are away."""
        (points,) = await self._store.search(query.space, [await self.point_query(query)])
        hits = tuple(Hit(point.id, point.score, similarity(point)) for point in points)
        return Retrieved(hits, exhausted=len(points) < query.limit)

    async def point_query(self, query: RetrievalQuery) -> PointQuery:
        """Return what to ask the store. Raises RetryableError when there is no vector for this text and space."""
        self._check_space(query.space)
        known = query.vectors.outcomes.get(query.text)
        if known is None:
            known = query.vectors.outcomes[query.text] = await self._embed(query)
        if isinstance(known, RetryableError):
            raise known
        return PointQuery(known, query.limit, query.where)

    async def _embed(self, query: RetrievalQuery) -> Vector | RetryableError:
        started = time.perf_counter()
        try:
            async with asyncio.timeout(query.embed_timeout_s):
                return await self._embedder.embed_query(query.text)
        except TimeoutError:
            return DeadlineExceeded(f"Embedding the query took more than {query.embed_timeout_s * 1000:.0f} ms.")
        except RetryableError as error:
            return error
        finally:
            query.vectors.spent_s += time.perf_counter() - started

    def _check_space(self, live: str) -> None:
        if _family(live) != self._family:
            raise Unavailable(f"The embedder {self._embedder.model} does not belong to the live space {live}.")


def _family(space: str) -> str:
    """Return a space's name without the chunker's version, which a query does not depend on."""
    return space.rpartition("-c")[0]


def similarity(point: ScoredPoint) -> float:
    """Return a dense hit's score as a cosine; rounding in the engine may leave the bounds by an ulp."""
    return min(1.0, max(-1.0, point.score))
