from __future__ import annotations

from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.retrieval.retrievers.fusion import place_score
from services.retrieval.retrievers.mmr import Diversity, MmrRetriever, likeness, mmr_order
from shared.embedding.embedder import Vector
from shared.errors import Unavailable
from tests.fakes.refiners import InMemoryContents
from tests.unit.retrieval.listed import ListedRetriever, asked, numbers

SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=12).map(lambda scores: sorted(scores, reverse=True))


def direction(*components: float) -> Vector:
    vector = np.array(components, dtype=np.float32)
    return vector / np.float32(np.linalg.norm(vector))


NEAR = {1: direction(1, 0, 0), 2: direction(1, 0.01, 0), 3: direction(1, 0.02, 0), 4: direction(0, 1, 0)}


def contents(vectors: dict[int, Vector]) -> InMemoryContents:
    return InMemoryContents(dense={UUID(int=number): vector for number, vector in vectors.items()})


def diverse(vectors: dict[int, Vector], relevance: float = 0.5, depth: int = 4) -> MmrRetriever:
    inner = ListedRetriever({"red roses": [1, 2, 3, 4, 5, 6]})
    return MmrRetriever(inner, contents(vectors), Diversity(relevance, depth))


async def test_what_says_the_same_comes_after_what_says_something_else() -> None:
    found = await diverse(NEAR).retrieve(asked())

    assert numbers(found) == [1, 4, 2, 3, 5, 6]
    assert [hit.score for hit in found.hits] == [place_score(place) for place in range(1, 7)]
    assert all(hit.similarity == 0.5 for hit in found.hits)


async def test_a_relevance_of_1_keeps_the_order() -> None:
    assert numbers(await diverse(NEAR, relevance=1.0).retrieve(asked())) == [1, 2, 3, 4, 5, 6]


async def test_it_looks_at_its_depth_whatever_was_asked() -> None:
    found = await diverse(NEAR).retrieve(asked(limit=2))

    assert numbers(found) == [1, 4]
    assert not found.exhausted


async def test_without_any_vector_the_order_stays() -> None:
    found = await diverse({}).retrieve(asked())

    assert (numbers(found), found.degraded) == ([1, 2, 3, 4, 5, 6], None)


async def test_while_vectors_cannot_be_read_the_order_stays_and_the_reply_says_so() -> None:
    away = InMemoryContents(error=Unavailable("It is away."))
    found = await MmrRetriever(ListedRetriever({"red roses": range(1, 7)}), away, Diversity()).retrieve(asked())

    assert numbers(found) == [1, 2, 3, 4, 5, 6]
    assert found.degraded == "Repetition is not ranked down: It is away."


def test_a_chunk_without_a_vector_is_as_like_the_others_as_two_are_in_the_mean() -> None:
    ids = [UUID(int=number) for number in (1, 2, 3)]
    alike = likeness(ids, {ids[0]: direction(1, 0), ids[2]: direction(1, 1)})

    assert alike[1] == pytest.approx([0.5**0.5] * 3)
    assert alike[0, 2] == pytest.approx(0.5**0.5)


@given(SCORES, st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_the_order_holds_each_position_once_and_begins_with_the_best(
    scores: list[float], relevance: float, seed: int
) -> None:
    rows = np.random.default_rng(seed).normal(size=(len(scores), 5))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    order = mmr_order(scores, rows @ rows.T, relevance)

    assert sorted(order) == list(range(len(scores)))
    assert order[0] == 0


@given(SCORES, st.floats(0.01, 1))
def test_where_all_are_equally_alike_only_scores_count(scores: list[float], relevance: float) -> None:
    order = mmr_order(scores, np.full((len(scores), len(scores)), 0.3), relevance)

    assert [scores[position] for position in order] == pytest.approx(scores, abs=1e-9)


def test_nothing_has_an_empty_order() -> None:
    assert mmr_order([], np.zeros((0, 0)), 0.5) == []
