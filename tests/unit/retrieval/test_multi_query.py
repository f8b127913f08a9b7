from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest

from services.retrieval.retrievers.multi_query import MultiQueryRetriever, Rewording
from shared.errors import InvalidInput, RateLimited, Unavailable
from tests.fakes.refiners import ListedRewriter
from tests.unit.retrieval.listed import ListedRetriever, asked, numbers


class Setting:
    """A retriever that asks in two more wordings."""

    def __init__(self, **how: float) -> None:
        self.inner = ListedRetriever({"red roses": [1, 2, 3], "crimson flowers": [3, 4], "rosa": [5, 3]})
        self.rewriter = ListedRewriter({"red roses": ("crimson flowers", "rosa", "one too many")})
        self.retriever = MultiQueryRetriever(self.inner, self.rewriter, replace(Rewording(count=2), **how))


async def test_what_several_wordings_find_rises_and_what_only_others_find_is_added() -> None:
    setting = Setting(weight=1.0)
    found = await setting.retriever.retrieve(asked())

    assert numbers(found)[0] == 3
    assert set(numbers(found)) == {1, 2, 3, 4, 5}
    assert [query.text for query in setting.inner.queries] == ["red roses", "crimson flowers", "rosa"]
    assert found.degraded is None


async def test_the_cosine_of_a_hit_is_that_with_the_question_as_asked() -> None:
    found = await Setting().retriever.retrieve(asked())

    assert {hit.chunk_id.int: hit.similarity for hit in found.hits} == {1: 0.5, 2: 0.5, 3: 0.5, 4: None, 5: None}


async def test_wordings_are_asked_for_once_in_a_request() -> None:
    setting = Setting()
    query = asked(limit=2)
    first = await setting.retriever.retrieve(query)
    second = await setting.retriever.retrieve(replace(query, limit=8))

    assert setting.rewriter.queries == ["red roses"]
    assert (len(first.hits), first.exhausted) == (2, False)
    assert (len(second.hits), second.exhausted) == (5, True)


@pytest.mark.parametrize("error", [RateLimited("It asks to wait."), InvalidInput("The key is wrong.")])
async def test_without_the_provider_the_question_is_asked_as_it_stands_and_the_reply_says_so(
    error: RateLimited,
) -> None:
    setting = Setting()
    setting.rewriter.error = error
    query = asked()
    found = await setting.retriever.retrieve(query)
    await setting.retriever.retrieve(query)

    assert numbers(found) == [1, 2, 3]
    assert found.degraded == f"Asked in one wording only: {error}"
    assert setting.rewriter.queries == ["red roses"], "a failing provider is not asked twice within one request"


async def test_a_provider_that_thinks_too_long_is_not_waited_for() -> None:
    setting = Setting()
    setting.rewriter.hangs = True
    found = await setting.retriever.retrieve(asked(until=time.perf_counter() + 0.1))

    assert numbers(found) == [1, 2, 3]
    assert found.degraded == "Asked in one wording only: Other wordings were not there in time."


async def test_a_provider_with_nothing_to_say_changes_nothing() -> None:
    setting = Setting()
    setting.rewriter.listed.clear()
    found = await setting.retriever.retrieve(asked())

    assert (numbers(found), found.degraded) == ([1, 2, 3], None)


async def test_when_the_store_is_away_the_provider_is_let_go() -> None:
    setting = Setting()
    setting.inner.away = True
    setting.rewriter.hangs = True

    async with asyncio.timeout(10):
        with pytest.raises(Unavailable, match="The store is away"):
            await setting.retriever.retrieve(asked())
