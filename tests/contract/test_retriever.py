"""What every retriever keeps, however it is composed: one suite over all, on a plain store and on the real one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from services.retrieval.retriever import Retrieved
from shared.errors import Unavailable
from shared.vectors.filter import FieldIn
from tests.contract.retrievers import (
    EMBEDDING,
    PROFILES,
    QUESTION,
    REFINED,
    TEXTS,
    TWO_RANKINGS,
    Garden,
    chunk_id,
    garden,
)
from tests.fakes.in_memory_vector_store import InMemoryVectorStore

EVEN = FieldIn("area", ("even",))


@pytest.fixture(params=["fake", "edge"])
def store_name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=PROFILES)
def profile(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def planted(store_name: str, profile: str) -> AsyncGenerator[Garden]:
    async with garden(store_name, profile) as opened:
        yield opened


def ids(found: Retrieved) -> list[int]:
    return [hit.chunk_id.int for hit in found.hits]


async def test_hits_come_once_best_first_and_ties_by_id(planted: Garden) -> None:
    for limit in (1, 3, 5, 8, 100):
        found = await planted.retrieve(limit=limit)

        assert len(set(ids(found))) == len(found.hits)
        assert list(found.hits) == sorted(found.hits, key=lambda hit: (-hit.score, hit.chunk_id))


async def test_there_are_no_more_hits_than_the_limit_for_each_ranking(planted: Garden, profile: str) -> None:
    for limit in (1, 2, 5, 7, 20):
        most = limit * (2 if profile in TWO_RANKINGS else 1)

        assert 0 < len((await planted.retrieve(limit=limit)).hits) <= most


async def test_what_is_exhausted_has_nothing_more_at_a_larger_limit(planted: Garden) -> None:
    everything = await planted.retrieve(limit=1_000)
    assert everything.exhausted

    for limit in (1, 3, 8, 12, 30):
        found = await planted.retrieve(limit=limit)
        if found.exhausted:
            assert set(ids(found)) == set(ids(everything))
        if len(found.hits) < len(everything.hits):
            assert not found.exhausted


async def test_the_first_hit_answers_the_question_and_says_how_near_it_is(planted: Garden, profile: str) -> None:
    first = (await planted.retrieve(limit=4)).hits[0]

    assert TEXTS[1_000 - first.chunk_id.int].startswith("red roses")
    assert first.similarity is None or -1 <= first.similarity <= 1
    if profile.endswith("dense"):
        assert first.similarity == pytest.approx(1.0, abs=1e-3)


async def test_a_filter_binds_every_hit(planted: Garden) -> None:
    found = await planted.retrieve(limit=30, where=EVEN)

    assert found.hits
    assert {(1_000 - number) % 2 for number in ids(found)} == {0}


async def test_the_same_question_has_the_same_answer_alone_and_beside_others(planted: Garden) -> None:
    alone = [await planted.retrieve(text, limit=6) for text in (QUESTION, "fish", "door")]

    together = await asyncio.gather(*(planted.retrieve(text, limit=6) for text in (QUESTION, "fish", "door")))

    assert list(together) == alone
    assert alone[0].degraded is None


async def test_chunks_that_have_no_vector_yet_are_found_where_words_count(planted: Garden, profile: str) -> None:
    found = await planted.retrieve(limit=30)

    assert (chunk_id(1).int in ids(found)) is (PROFILES[profile].kind != "dense")


async def test_an_empty_space_gives_nothing_and_is_exhausted(store_name: str, profile: str) -> None:
    async with garden(store_name, profile, empty=True) as bare:
        found = await bare.retrieve()

    assert (found.hits, found.exhausted) == ((), True)


@pytest.mark.parametrize("profile", EMBEDDING)
async def test_while_embedding_is_away_words_answer_and_the_reply_says_so(planted: Garden) -> None:
    planted.without_embedding()
    found = await planted.retrieve()

    assert found.hits
    assert all(hit.similarity is None for hit in found.hits)
    assert found.degraded is not None
    assert found.degraded.count("Searched by words only: The provider asks to wait.") == 1


@pytest.mark.parametrize("profile", REFINED)
async def test_while_refiners_are_away_the_inner_ranking_answers_and_the_reply_says_so(planted: Garden) -> None:
    plain = await planted.retrieve(limit=30, plain=True)
    planted.refiners.fail(Unavailable("The model is away."))

    found = await planted.retrieve(limit=30)

    assert ids(found)[:12] == ids(plain)[:12]
    assert found.degraded is not None
    assert "The model is away." in found.degraded


@pytest.mark.parametrize("profile", REFINED)
async def test_a_plain_question_asks_no_refiner(planted: Garden) -> None:
    await planted.retrieve(plain=True)

    assert (planted.refiners.contents.reads, planted.refiners.scorer.calls) == ([], [])
    assert planted.refiners.rewriter.queries == []


@pytest.mark.parametrize("store_name", ["fake"])
async def test_without_the_store_it_is_unavailable(planted: Garden) -> None:
    assert isinstance(planted.store, InMemoryVectorStore)
    planted.store.down = True

    with pytest.raises(Unavailable):
        await planted.retrieve()
