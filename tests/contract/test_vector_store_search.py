"""What every vector store finds: order, ties, words and vectors, and what a filter lets through.

Proved on the fake, Qdrant in process, and the server adapter on what stands in for a server.
"""

from __future__ import annotations

import numpy as np
import pytest

from shared.embedding.embedder import Space
from shared.errors import InvalidInput
from shared.vectors.filter import All, AnyOf, FieldExists, FieldRange, Not
from shared.vectors.store import PointQuery, VectorStore
from tests.contract.vector_stores import found, point, unit, where, words
from tests.fakes.in_memory_vector_store import InMemoryVectorStore

pytestmark = [
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant"),
    pytest.mark.filterwarnings("ignore:Local mode performs exact"),
]


async def test_hits_come_best_first(store: VectorStore, space: Space) -> None:
    await store.upsert(
        space.name,
        [point(1, dense=unit(1, 1)), point(2, dense=unit(1)), point(3, dense=unit(-1)), point(4, dense=unit(0, 1))],
    )
    [hits] = await store.search(space.name, [PointQuery(unit(1), 9)])
    assert [hit.id.int for hit in hits] == [2, 1, 4, 3]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.5**0.5, 0.0, -1.0], abs=1e-5)
    assert await found(store, space, PointQuery(unit(1), 2)) == [2, 1]


async def test_rare_words_weigh_more(store: VectorStore, space: Space) -> None:
    common = [point(id, terms=[1]) for id in range(10, 20)]
    await store.upsert(space.name, [*common, point(1, terms=[1, 2]), point(2, terms=[3])])
    [hits] = await store.search(space.name, [PointQuery(words(1, 2), 3)])
    assert [hit.id.int for hit in hits] == [1, 10, 11]
    reference = InMemoryVectorStore()
    await reference.ensure_space(space)
    await reference.upsert(space.name, [*common, point(1, terms=[1, 2]), point(2, terms=[3])])
    [expected] = await reference.search(space.name, [PointQuery(words(1, 2), 3)])
    assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected], rel=1e-4)


async def test_only_points_that_share_a_word_are_hits(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [point(1, terms=[1], kind="wiki"), point(2, terms=[2], kind="wiki")])
    assert await found(store, space, PointQuery(words(2, 3), 9, where("kind", "wiki"))) == [2]
    assert await found(store, space, PointQuery(words(3), 9)) == []
    assert await found(store, space, PointQuery(words(), 9)) == []


async def test_several_queries_are_answered_in_order(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [point(1, terms=[1], dense=unit(1)), point(2, terms=[2], dense=unit(0, 1))])
    answers = await store.search(
        space.name,
        [PointQuery(words(2), 5), PointQuery(unit(1), 1), PointQuery(words(9), 5), PointQuery(unit(1), 0)],
    )
    assert [[hit.id.int for hit in hits] for hits in answers] == [[2], [1], [], []]


@pytest.mark.parametrize("limit", [1, 7, 40])
async def test_ties_are_ordered_by_id_wherever_they_are_cut(store: VectorStore, space: Space, limit: int) -> None:
    ids = [(id * 37) % 101 for id in range(100)]
    await store.upsert(space.name, [point(id, terms=[1], dense=unit(1)) for id in ids])
    expected = sorted(ids)[:limit]
    assert await found(store, space, PointQuery(unit(1), limit)) == expected
    assert await found(store, space, PointQuery(words(1), limit)) == expected


async def test_a_filter_matches_one_entry_of_a_list(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [point(1, tags=["a", "b"]), point(2, tags=["c"]), point(3, tags=[]), point(4)])
    assert await found(store, space, PointQuery(words(1), 9, where("tags", "b", "c"))) == [1, 2]
    assert await found(store, space, PointQuery(words(1), 9, Not(where("tags", "b")))) == [2, 3, 4]


async def test_all_conditions_bind_and_none_of_the_others(store: VectorStore, space: Space) -> None:
    await store.upsert(
        space.name,
        [
            point(1, kind="wiki", area="x", dense=unit(1)),
            point(2, kind="wiki", area="y", dense=unit(1)),
            point(3, kind="raw", area="x", dense=unit(1)),
        ],
    )
    both = All((where("kind", "wiki", "raw"), where("area", "x")))
    not_raw = All((both, Not(where("kind", "raw"))))
    assert await found(store, space, PointQuery(unit(1), 9, both)) == [1, 3]
    assert await found(store, space, PointQuery(unit(1), 9, not_raw)) == [1]


async def test_an_empty_list_matches_nothing(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [point(1, kind="wiki", dense=unit(1))])
    for vector in (unit(1), words(1)):
        assert await found(store, space, PointQuery(vector, 9, where("kind"))) == []
        assert await found(store, space, PointQuery(vector, 9, Not(where("kind")))) == [1]


@pytest.mark.parametrize("limit", [0, 9])
async def test_a_filter_by_an_unknown_field_is_an_error(store: VectorStore, space: Space, limit: int) -> None:
    conditions = (
        where("text", "x"),
        Not(where("nonsense", "x")),
        AnyOf((All(), FieldExists("text"))),
        FieldRange("title", "number", gt=1),
    )
    for condition in conditions:
        with pytest.raises(InvalidInput):
            await store.search(space.name, [PointQuery(unit(1), limit, condition)])


async def test_values_are_compared_as_text(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [point(1, level=3), point(2, level="3"), point(3, level=True), point(4, level=None)])
    assert await found(store, space, PointQuery(words(1), 9, where("level", 3))) == [1, 2]
    assert await found(store, space, PointQuery(words(1), 9, where("level", "true"))) == [3]


async def test_a_selective_filter_never_costs_hits(store: VectorStore, space: Space) -> None:
    rng = np.random.default_rng(7)
    vectors = rng.standard_normal((2_000, space.dimension)).astype(np.float32)
    points = [
        point(id, dense=vectors[id] if id % 3 else None, area="rare" if id % 200 == 1 else "common")
        for id in range(2_000)
    ]
    await store.upsert(space.name, points)
    rare = [id for id in range(2_000) if id % 200 == 1 and id % 3]
    hits = await found(store, space, PointQuery(unit(1), len(rare), where("area", "rare")))
    assert sorted(hits) == rare
