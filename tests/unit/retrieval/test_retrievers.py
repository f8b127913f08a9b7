from __future__ import annotations

import pytest

from services.retrieval.profile_settings import BUILT_IN, ProfileSettings
from services.retrieval.profiles import Profiles, retrievers
from services.retrieval.retriever import RetrievalQuery
from services.retrieval.retrievers.dense import DenseRetriever
from services.retrieval.retrievers.sparse import SparseRetriever
from shared.errors import InvalidInput, RateLimited, Unavailable
from shared.vectors.filter import EVERYTHING
from tests.unit.retrieval.scene import Scene, page, scene


def question(garden: Scene, text: str, limit: int = 10) -> RetrievalQuery:
    return RetrievalQuery(text, ("en",), garden.space, EVERYTHING, limit, embed_timeout_s=5)


async def roses() -> Scene:
    return await scene(
        page("rose.md", "roses are red"), page("pond.md", "water and fish"), page("oak.md", "tall red oak")
    )


async def test_the_dense_retriever_scores_by_cosine_and_embeds_a_text_once_per_request() -> None:
    garden = await roses()
    dense = DenseRetriever(garden.watched, garden.embedder)
    query = question(garden, "roses are red")

    found = await dense.retrieve(query)
    await dense.retrieve(query)

    assert found.hits[0].score == pytest.approx(1.0)
    assert found.hits[0].similarity == pytest.approx(1.0)
    assert garden.embedder.queries == ["roses are red"]


async def test_the_dense_retriever_refuses_to_compare_vectors_of_two_spaces() -> None:
    garden = await roses()
    query = RetrievalQuery("roses", (), "other-model-256-c1", EVERYTHING, 5, embed_timeout_s=5)

    with pytest.raises(Unavailable, match="does not belong to the live space other-model-256-c1"):
        await DenseRetriever(garden.watched, garden.embedder).retrieve(query)


async def test_a_later_chunker_in_the_live_space_does_not_matter_to_a_query() -> None:
    garden = await roses()
    later = garden.space.removesuffix("1") + "2"
    dense = DenseRetriever(garden.watched, garden.embedder)

    assert await dense.point_query(RetrievalQuery("roses", (), later, EVERYTHING, 5, embed_timeout_s=5))


async def test_the_sparse_retriever_finds_by_words_without_embedding() -> None:
    garden = await roses()
    found = await SparseRetriever(garden.watched, garden.encoder).retrieve(question(garden, "red"))

    assert len(found.hits) == 2
    assert all(hit.similarity is None for hit in found.hits)
    assert garden.embedder.queries == []


async def test_a_query_without_words_is_not_sent_to_the_store() -> None:
    garden = await roses()
    found = await SparseRetriever(garden.watched, garden.encoder).retrieve(question(garden, "?!"))

    assert found.hits == ()
    assert found.exhausted
    assert garden.watched.calls == []


async def test_a_ranking_as_long_as_its_limit_may_have_more() -> None:
    garden = await roses()
    sparse = SparseRetriever(garden.watched, garden.encoder)

    assert not (await sparse.retrieve(question(garden, "red", limit=2))).exhausted
    assert (await sparse.retrieve(question(garden, "red", limit=3))).exhausted


async def test_hybrid_asks_for_both_rankings_in_one_call_and_knows_the_cosine_of_each_dense_hit() -> None:
    garden = await roses()
    hybrid = retrievers(BUILT_IN, garden.watched, garden.embedder, garden.encoder)["hybrid"]

    found = await hybrid.retrieve(question(garden, "roses are red"))

    assert [len(queries) for queries in garden.watched.calls] == [2]
    assert found.hits[0].similarity == pytest.approx(1.0)
    assert found.hits[0].score == pytest.approx(2 / 61)


async def test_hybrid_finds_chunks_that_have_no_dense_vector_yet() -> None:
    garden = await scene(page("rose.md", "roses are red"), embedded=False)
    hybrid = retrievers(BUILT_IN, garden.watched, garden.embedder, garden.encoder)["hybrid"]

    found = await hybrid.retrieve(question(garden, "red"))

    assert [hit.similarity for hit in found.hits] == [None]
    assert found.degraded is None


@pytest.mark.parametrize("profile", ["hybrid", "dense"])
async def test_while_embedding_is_away_the_sparse_retriever_answers_alone_and_says_so(profile: str) -> None:
    garden = await roses()
    garden.embedder.error = RateLimited("The provider asks to wait.")
    chosen = retrievers(BUILT_IN, garden.watched, garden.embedder, garden.encoder)[profile]

    query = question(garden, "red")
    first, second = await chosen.retrieve(query), await chosen.retrieve(query)

    assert len(first.hits) == len(second.hits) == 2
    assert first.degraded == "Searched by words only: The provider asks to wait."
    assert len(garden.embedder.queries) == 1, "a failing provider is not asked twice within one request"


async def test_without_the_store_every_retriever_raises() -> None:
    garden = await roses()
    garden.store.down = True
    for retriever in retrievers(BUILT_IN, garden.watched, garden.embedder, garden.encoder).values():
        with pytest.raises(Unavailable):
            await retriever.retrieve(question(garden, "red"))


async def test_profiles_are_found_by_name_and_null_means_the_default() -> None:
    garden = await roses()
    mine = {**BUILT_IN, "words": ProfileSettings(kind="sparse")}
    profiles = Profiles(retrievers(mine, garden.watched, garden.embedder, garden.encoder), default="hybrid")

    assert profiles.named(None)[0] == "hybrid"
    assert profiles.named("words")[0] == "words"
    with pytest.raises(InvalidInput, match=r"no retrieval profile 'fast'\. Known: dense, hybrid, sparse, words\."):
        profiles.named("fast")


def test_a_default_that_does_not_exist_is_refused_at_once() -> None:
    with pytest.raises(InvalidInput, match="'best'"):
        Profiles({}, default="best")
