"""What every vector store keeps: spaces, points, what a rewrite leaves, what deleting takes.

Proved on the fake, Qdrant in process, and the server adapter on what stands in for a server.
"""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from shared.embedding.embedder import Space
from shared.errors import NotFound, SpaceMismatch
from shared.vectors.store import Point, PointQuery, SparseVector, VectorStore
from tests.contract.vector_stores import found, new_space, number, point, stored, unit, where, words

pytestmark = [
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant"),
    pytest.mark.filterwarnings("ignore:Local mode performs exact"),
]


async def test_a_space_is_created_once_and_keeps_its_points(store: VectorStore, space: Space) -> None:
    await store.upsert(space.name, [point(1)])
    await store.ensure_space(space)
    assert await stored(store, space) == [1]


class _Longer(Space):
    """A space of another dimension under the name that it would have with the usual one."""

    @property
    def name(self) -> str:
        return Space(self.model, self.dimension - 1, self.chunker_version).name


async def test_a_space_of_another_dimension_is_refused(store: VectorStore, space: Space) -> None:
    with pytest.raises(SpaceMismatch):
        await store.ensure_space(_Longer(space.model, space.dimension + 1, space.chunker_version))


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
