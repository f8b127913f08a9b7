"""What every vector store does: the fake, Qdrant in process, and the server adapter on what stands in for a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.embedding.embedder import Space
from shared.errors import InvalidInput, NotFound, SpaceMismatch
from shared.vectors.store import KEYWORD_FIELDS, FieldIn, Point, PointFilter, PointQuery, SparseVector, VectorStore
from tests.contract.vector_stores import STORES, fast_folder, new_space, number, point, unit, words
from tests.fakes.in_memory_vector_store import InMemoryVectorStore

pytestmark = [
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant"),
    pytest.mark.filterwarnings("ignore:Local mode performs exact"),
]


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest) -> AsyncIterator[VectorStore]:
    with fast_folder() as folder:
        async with STORES[request.param](folder) as opened:
            yield opened


@pytest.fixture
async def space(store: VectorStore) -> AsyncIterator[Space]:
    space = new_space()
    await store.ensure_space(space)
    yield space
    await store.drop_space(space.name)


async def found(store: VectorStore, space: Space, query: PointQuery) -> list[int]:
    [hits] = await store.search(space.name, [query])
    return [hit.id.int for hit in hits]


async def stored(store: VectorStore, space: Space, vault_id: str | None = None) -> list[int]:
    return [id.int async for id in store.ids(space.name, vault_id)]


def where(field: str, *values: str | int | bool) -> PointFilter:
    return PointFilter(must=(FieldIn(field, values),))


async def test_a_space_is_created_once_and_keeps_its_points(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [point(1)])
    await store.ensure_space(space)
    assert await stored(store, space) == [1]


async def test_a_space_of_another_dimension_is_refused(store: VectorStore, space: Space) -> None:
    class Renamed(Space):
        @property
        def name(self) -> str:
            return space.name

    with pytest.raises(SpaceMismatch):
        await store.ensure_space(Renamed(space.model, space.dimension + 1, 1))


async def test_a_vector_of_another_dimension_is_refused(store: VectorStore, space: Space) -> None:
    wrong = np.ones(space.dimension + 1, dtype=np.float32)
    await store.upsert(space.name, [point(1)])
    with pytest.raises(SpaceMismatch):
        await store.upsert(space.name, [point(2, dense=wrong)])
    with pytest.raises(SpaceMismatch):
        await store.set_dense(space.name, {number(1): wrong})
    with pytest.raises(SpaceMismatch):
        await store.search(space.name, [PointQuery(wrong, 1)])


async def test_a_space_that_was_never_ensured_is_not_found(store: VectorStore) -> None:
    missing = new_space().name
    with pytest.raises(NotFound):
        await store.upsert(missing, [point(1)])
    with pytest.raises(NotFound):
        await store.rewrite(missing, [point(1)])
    with pytest.raises(NotFound):
        await store.set_dense(missing, {number(1): unit(1)})
    with pytest.raises(NotFound):
        await store.delete(missing, [number(1)])
    with pytest.raises(NotFound):
        await store.search(missing, [PointQuery(unit(1), 1)])
    with pytest.raises(NotFound):
        await store.count(missing)
    with pytest.raises(NotFound):
        _ = [id async for id in store.ids(missing)]


async def test_a_dropped_space_is_gone_and_may_be_dropped_again(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [point(1)])
    await store.drop_space(space.name)
    await store.drop_space(space.name)
    with pytest.raises(NotFound):
        await store.count(space.name)
    await store.ensure_space(space)
    assert await store.count(space.name) == 0


async def test_an_upsert_replaces_the_whole_point(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [point(1, terms=[1], dense=unit(1), kind="wiki")])
    await store.upsert(space.name, [point(1, terms=[2], kind="raw")])
    assert await found(store, space, PointQuery(words(1), 9)) == []
    assert await found(store, space, PointQuery(words(2), 9)) == [1]
    assert await found(store, space, PointQuery(unit(1), 9)) == []
    assert await found(store, space, PointQuery(words(2), 9, where("kind", "wiki"))) == []
    assert await store.count(space.name) == 1


async def test_a_rewrite_keeps_the_dense_vector(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [point(1, terms=[1], dense=unit(1), kind="wiki", area="x")])
    await store.rewrite(space.name, [point(1, terms=[2], kind="raw")])
    assert await found(store, space, PointQuery(unit(1), 9, where("kind", "raw"))) == [1]
    assert await found(store, space, PointQuery(words(1), 9)) == []
    assert await found(store, space, PointQuery(words(2), 9)) == [1]
    assert await found(store, space, PointQuery(unit(1), 9, where("area", "x"))) == []


async def test_a_rewrite_brings_a_dense_vector_where_it_has_one(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [point(1, dense=unit(1)), point(2, dense=unit(1))])
    await store.rewrite(space.name, [point(1, dense=unit(0, 1)), point(2)])
    [hits] = await store.search(space.name, [PointQuery(unit(0, 1), 9)])
    assert [(hit.id.int, round(hit.score, 4)) for hit in hits] == [(1, 1.0), (2, 0.0)]


async def test_rewriting_a_missing_point_changes_nothing(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [point(1, terms=[1])])
    await store.rewrite(space.name, [point(2, terms=[2]), point(1, terms=[3])])
    await store.rewrite(space.name, [point(2, terms=[2])])
    assert await stored(store, space) == [1]
    assert await found(store, space, PointQuery(words(3), 9)) == [1]


async def test_a_dense_vector_comes_later(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [point(1, terms=[1], kind="wiki"), point(2, terms=[1])])
    assert await found(store, space, PointQuery(unit(1), 9)) == []
    await store.set_dense(space.name, {number(1): unit(1), number(99): unit(1)})
    await store.set_dense(space.name, {number(99): unit(1)})
    assert await found(store, space, PointQuery(unit(1), 9)) == [1]
    assert await found(store, space, PointQuery(words(1), 9, where("kind", "wiki"))) == [1]
    assert await stored(store, space) == [1, 2]


async def test_deleting_is_for_what_is_there(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [point(id, dense=unit(1)) for id in (1, 2, 3)])
    await store.delete(space.name, [number(2), number(99)])
    assert await stored(store, space) == [1, 3]
    assert await found(store, space, PointQuery(unit(1), 9)) == [1, 3]


async def test_writing_nothing_is_fine(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [])
    await store.rewrite(space.name, [])
    await store.set_dense(space.name, {})
    await store.delete(space.name, [])
    assert await store.search(space.name, []) == []
    assert await stored(store, space) == []


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


async def test_a_point_without_words_is_kept(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [Point(number(1), SparseVector((), ()), {"vault_id": "v"})])
    await store.rewrite(space.name, [Point(number(1), SparseVector((), ()), {"vault_id": "w"})])
    assert await stored(store, space, "w") == [1]
    assert await found(store, space, PointQuery(words(1), 9)) == []
    await store.set_dense(space.name, {number(1): unit(1)})
    assert await found(store, space, PointQuery(unit(1), 9)) == [1]


async def test_a_rewrite_to_no_words_forgets_the_old_ones(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [point(1, terms=[1])])
    await store.rewrite(space.name, [point(1, terms=[])])
    assert await found(store, space, PointQuery(words(1), 9)) == []


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
    without = PointFilter(must_not=(FieldIn("tags", ("b",)),))
    assert await found(store, space, PointQuery(words(1), 9, without)) == [2, 3, 4]


async def test_all_conditions_bind_and_none_of_the_others(store: VectorStore, space: Space) -> None:
    await store.upsert(
        space.name,
        [
            point(1, kind="wiki", area="x", dense=unit(1)),
            point(2, kind="wiki", area="y", dense=unit(1)),
            point(3, kind="raw", area="x", dense=unit(1)),
        ],
    )
    both = PointFilter(must=(FieldIn("kind", ("wiki", "raw")), FieldIn("area", ("x",))))
    not_raw = PointFilter(must=both.must, must_not=(FieldIn("kind", ("raw",)),))
    assert await found(store, space, PointQuery(unit(1), 9, both)) == [1, 3]
    assert await found(store, space, PointQuery(unit(1), 9, not_raw)) == [1]


async def test_an_empty_list_matches_nothing(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [point(1, kind="wiki", dense=unit(1))])
    for vector in (unit(1), words(1)):
        assert await found(store, space, PointQuery(vector, 9, where("kind"))) == []
        assert await found(store, space, PointQuery(vector, 9, PointFilter(must_not=(FieldIn("kind", ()),)))) == [1]


@pytest.mark.parametrize("limit", [0, 9])
async def test_a_filter_by_an_unknown_field_is_an_error(store: VectorStore, space: Space, limit: int) -> None:
    for condition in (where("text", "x"), PointFilter(must_not=(FieldIn("nonsense", ("x",)),))):
        with pytest.raises(InvalidInput):
            await store.search(space.name, [PointQuery(unit(1), limit, condition)])


async def test_values_are_compared_as_text(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [point(1, level=3), point(2, level="3"), point(3, level=True), point(4, level=None)])
    assert await found(store, space, PointQuery(words(1), 9, where("level", 3))) == [1, 2]
    assert await found(store, space, PointQuery(words(1), 9, where("level", "true"))) == [3]


VALUES = st.sampled_from(["a", "b", "A", "", "ä", "a b", "1", 1, 2, True, False])
PAYLOADS = st.dictionaries(st.sampled_from(KEYWORD_FIELDS[1:5]), VALUES | st.none() | st.lists(VALUES, max_size=3))
CONDITIONS = st.builds(FieldIn, st.sampled_from(KEYWORD_FIELDS[1:5]), st.lists(VALUES, max_size=3).map(tuple))
CONDITION_LISTS = st.lists(CONDITIONS, max_size=2).map(tuple)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    payloads=st.lists(PAYLOADS, min_size=1, max_size=12),
    filters=st.lists(st.builds(PointFilter, CONDITION_LISTS, CONDITION_LISTS), min_size=1, max_size=6),
)
async def test_filters_mean_the_same_in_every_store(
    store: VectorStore, space: Space, payloads: list[dict[str, object]], filters: list[PointFilter]
) -> None:
    reference = InMemoryVectorStore()
    await reference.ensure_space(space)
    await store.delete(space.name, [id async for id in store.ids(space.name)])
    points = [
        Point(number(id), words(1), {"vault_id": "v", **payload}, unit(1, id)) for id, payload in enumerate(payloads)
    ]
    for one in (store, reference):
        await one.upsert(space.name, points)
    queries = [PointQuery(vector, 20, filter) for filter in filters for vector in (unit(1), words(1))]
    answers = await store.search(space.name, queries)
    expected = await reference.search(space.name, queries)
    assert [[hit.id.int for hit in hits] for hits in answers] == [[hit.id.int for hit in hits] for hits in expected]


async def test_ids_are_paged_to_the_end_in_ascending_order(store: VectorStore, space: Space) -> None:
    wanted = sorted((id * 7_919) % 1_000_003 for id in range(1, 10_300))
    points = [Point(number(id), SparseVector((), ()), {"vault_id": "v" if id % 2 else "w"}) for id in reversed(wanted)]
    await store.upsert(space.name, points)
    odd = [id for id in wanted if id % 2]
    assert await stored(store, space) == wanted
    assert await stored(store, space, "v") == odd
    assert await store.count(space.name) == len(wanted)
    assert await store.count(space.name, "v") == len(odd)
    assert await store.count(space.name, "nobody") == 0
    await store.delete(space.name, [number(id) for id in wanted])
    assert await store.count(space.name) == 0


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


async def test_searches_and_writes_go_on_side_by_side(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [point(1, dense=unit(1), kind="stays")])

    async def write(start: int) -> None:
        for id in range(start, start + 100):
            await store.upsert(space.name, [point(id, dense=unit(0, 1))])
            await store.rewrite(space.name, [point(id, terms=[2])])
            if id % 2:
                await store.delete(space.name, [number(id)])

    async def search() -> None:
        for _ in range(50):
            assert await found(store, space, PointQuery(unit(1), 1)) == [1]
            await asyncio.sleep(0)

    await asyncio.gather(write(100), write(300), search(), search())
    assert await store.count(space.name) == 101
    assert len(await found(store, space, PointQuery(words(2), 500))) == 100
