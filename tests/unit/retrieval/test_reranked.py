from __future__ import annotations

import time
from dataclasses import replace
from uuid import UUID

import pytest

from services.retrieval.retrievers.reranked import RerankedRetriever, Reranking
from shared.errors import InvalidInput, Unavailable
from tests.fakes.refiners import InMemoryContents, WordScorer
from tests.unit.retrieval.listed import ListedRetriever, asked, numbers

TEXTS = {1: "water", 2: "a red door", 3: "red roses", 4: "roses", 5: "fish", 6: "red roses"}


class Setting:
    """A reranked retriever over six hits, and all that it asks."""

    def __init__(self, count: int = 6, **how: float) -> None:
        self.inner = ListedRetriever({"red roses": range(1, count + 1)})
        self.contents = InMemoryContents({UUID(int=number): text for number, text in TEXTS.items()})
        self.scorer = WordScorer()
        self.retriever = RerankedRetriever(
            self.inner, self.contents, self.scorer, replace(Reranking(), **how), clock=time.perf_counter
        )


async def test_what_the_model_prefers_rises_and_equal_scores_keep_their_order() -> None:
    setting = Setting(weight=0.9)
    found = await setting.retriever.retrieve(asked())

    assert numbers(found) == [3, 6, 2, 4, 1, 5]
    assert found.degraded is None


async def test_the_weight_says_how_much_the_model_counts() -> None:
    assert numbers(await Setting(weight=0.01).retriever.retrieve(asked())) == [1, 2, 3, 4, 5, 6]
    assert numbers(await Setting(weight=0.5).retriever.retrieve(asked()))[0] == 3


async def test_it_reads_deeper_than_asked_and_answers_with_no_more_than_asked() -> None:
    setting = Setting(weight=0.9, depth=6)
    found = await setting.retriever.retrieve(asked(limit=2))

    assert [query.limit for query in setting.inner.queries] == [6]
    assert numbers(found) == [3, 6]
    assert not found.exhausted


async def test_hits_beyond_the_depth_follow_in_their_order() -> None:
    found = await Setting(weight=0.9, depth=3).retriever.retrieve(asked())

    assert numbers(found) == [3, 2, 1, 4, 5, 6]
    assert found.exhausted


async def test_all_texts_are_read_in_one_round_trip_and_scored_in_slices() -> None:
    setting = Setting(count=20, depth=20)
    setting.contents.by_id = {UUID(int=number): f"text {number}" for number in range(1, 21)}
    await setting.retriever.retrieve(asked(limit=20))

    assert [len(read) for read in setting.contents.reads] == [20]
    assert [len(texts) for _, texts in setting.scorer.calls] == [4] * 5


async def test_looking_deeper_in_the_same_request_scores_nothing_twice() -> None:
    setting = Setting()
    query = asked(limit=3)
    await setting.retriever.retrieve(query)
    await setting.retriever.retrieve(replace(query, limit=12))

    assert [len(texts) for _, texts in setting.scorer.calls] == [4, 2]


async def test_a_chunk_that_is_no_longer_live_keeps_its_inner_rank_only() -> None:
    setting = Setting(weight=0.5)
    del setting.contents.by_id[UUID(int=3)]
    found = await setting.retriever.retrieve(asked())

    assert sorted(numbers(found)) == [1, 2, 3, 4, 5, 6]
    assert numbers(found)[-1] == 3
    assert found.degraded is None


async def test_when_time_is_short_what_was_read_counts_and_the_reply_says_how_much() -> None:
    setting = Setting(count=20, depth=20, weight=0.9)
    setting.contents.by_id = {UUID(int=number): "red roses" if number == 8 else "x" for number in range(1, 21)}
    setting.scorer.hangs_from = 2
    found = await setting.retriever.retrieve(asked(limit=20, until=time.perf_counter() + 0.2))

    assert numbers(found) == [8, 1, 2, 3, 4, 5, 6, 7, *range(9, 21)]
    assert found.degraded == "Reranked 8 of 20 hits: there was no time for more."


async def test_when_no_time_is_left_the_inner_ranking_is_the_answer() -> None:
    setting = Setting()
    found = await setting.retriever.retrieve(asked(until=time.perf_counter() - 1))

    assert numbers(found) == [1, 2, 3, 4, 5, 6]
    assert found.degraded == "Reranked 0 of 6 hits: there was no time for more."


@pytest.mark.parametrize("error", [Unavailable("It is away."), InvalidInput("It is not installed.")])
@pytest.mark.parametrize("who", ["contents", "scorer"])
async def test_when_it_cannot_rerank_the_inner_ranking_is_the_answer(error: Unavailable, who: str) -> None:
    setting = Setting(weight=0.9)
    getattr(setting, who).error = error
    setting.inner.degraded = "Searched by words only."
    found = await setting.retriever.retrieve(asked())

    assert numbers(found) == [1, 2, 3, 4, 5, 6]
    assert found.degraded == f"Searched by words only. Not reranked: {error}"


async def test_without_hits_nothing_is_read() -> None:
    setting = Setting(count=0)
    found = await setting.retriever.retrieve(asked())

    assert (found.hits, found.exhausted, setting.contents.reads, setting.scorer.calls) == ((), True, [], [])


async def test_an_inner_retriever_that_fails_fails_the_whole() -> None:
    setting = Setting()
    setting.inner.away = True

    with pytest.raises(Unavailable, match="The store is away"):
        await setting.retriever.retrieve(asked())
