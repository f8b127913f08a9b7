"""The retrievers that the contract is proved on, and a garden of chunks to prove it with."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from services.retrieval.profile_settings import ProfileSettings
from services.retrieval.profiles import retrievers
from services.retrieval.retriever import RetrievalQuery, Retrieved, Retriever
from shared.errors import RateLimited
from shared.vectors.bm25 import Bm25Encoder
from shared.vectors.filter import EVERYTHING, PointFilter
from shared.vectors.store import Point, VectorStore
from tests.contract.vector_stores import STORES, fast_folder
from tests.fakes.refiners import FakeRefiners
from tests.fakes.watched_search import WatchedEmbedder

RERANK = {"depth": 6}
MMR = {"lambda": 0.6, "depth": 8}
MULTI_QUERY = {"count": 2}

PROFILES = {
    name: ProfileSettings.model_validate(settings)
    for name, settings in {
        "sparse": {"kind": "sparse"},
        "dense": {"kind": "dense"},
        "hybrid": {"kind": "hybrid"},
        "weighted": {"kind": "hybrid", "rrf_k": 10, "dense_weight": 2.0, "sparse_weight": 0.5},
        "reranked": {"kind": "hybrid", "rerank": RERANK},
        "reranked-words": {"kind": "sparse", "rerank": {"depth": 6, "weight": 0.99}},
        "diverse": {"kind": "hybrid", "mmr": MMR},
        "diverse-dense": {"kind": "dense", "mmr": MMR},
        "multi-query": {"kind": "hybrid", "multi_query": MULTI_QUERY},
        "everything": {"kind": "hybrid", "multi_query": MULTI_QUERY, "rerank": RERANK, "mmr": MMR},
    }.items()
}
REFINED = [name for name, profile in PROFILES.items() if profile.rerank or profile.mmr or profile.multi_query]
EMBEDDING = [name for name, profile in PROFILES.items() if profile.kind != "sparse"]
TWO_RANKINGS = ("hybrid", "weighted")
"""Retrievers that may return up to `limit` of each of two rankings."""

QUESTION = "red roses"
TEXTS = (
    *["red roses"] * 4,  # ties
    *["red roses in the sun"] * 2,
    *[f"roses {number} by the wall" for number in range(6)],
    *[f"a red door {number}" for number in range(5)],
    *[f"water, fish and frogs {number}" for number in range(7)],
)
UNEMBEDDED = frozenset({1, 8, 14})
"""Positions of chunks that have no dense vector yet."""


def chunk_id(position: int) -> UUID:
    return UUID(int=1_000 - position)  # the order of ids is not that of the texts


@dataclass(slots=True)
class Garden:
    """One retriever over chunks, with all that it asks."""

    store: VectorStore
    embedder: WatchedEmbedder
    refiners: FakeRefiners
    retriever: Retriever

    async def retrieve(
        self, text: str = QUESTION, limit: int = 5, where: PointFilter = EVERYTHING, *, plain: bool = False
    ) -> Retrieved:
        query = RetrievalQuery(
            text, ("en",), self.embedder.space.name, where, limit, embed_timeout_s=5, vault_id="v", plain=plain
        )
        return await self.retriever.retrieve(query)

    def without_embedding(self) -> None:
        self.embedder.error = RateLimited("The provider asks to wait.")


@asynccontextmanager
async def garden(store_name: str, profile: str, *, empty: bool = False) -> AsyncGenerator[Garden]:
    """Yield a garden whose chunks lie in a store of that kind; those at even positions are of the area `even`."""
    embedder, refiners, encoder = WatchedEmbedder(), FakeRefiners(), Bm25Encoder()
    refiners.rewriter.listed[QUESTION] = ("crimson flowers by the wall", "fish")
    with fast_folder() as folder:
        async with STORES[store_name](folder) as store:
            await store.ensure_space(embedder.space)
            if not empty:
                await _plant(store, embedder, encoder, refiners)
            found = retrievers(PROFILES, store, embedder, encoder, refiners.given())
            yield Garden(store, embedder, refiners, found[profile])


async def _plant(store: VectorStore, embedder: WatchedEmbedder, encoder: Bm25Encoder, refiners: FakeRefiners) -> None:
    vectors = await embedder.embed_documents(list(TEXTS))
    points: list[Point] = []
    for position, text in enumerate(TEXTS):
        known = chunk_id(position)
        payload = {"vault_id": "v", "area": "odd" if position % 2 else "even"}
        dense = None if position in UNEMBEDDED else vectors[position]
        points.append(Point(known, encoder.document(text, "en"), payload, dense))
        refiners.contents.by_id[known] = text
        if dense is not None:
            refiners.contents.dense[known] = dense
    await store.upsert(embedder.space.name, points)
