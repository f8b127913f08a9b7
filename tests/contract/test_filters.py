"""A filter selects the same in every vector store, in Postgres and in plain Python."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from uuid import UUID

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from qdrant_client import AsyncQdrantClient

from services.retrieval.adapters.postgres.page_filter import page_passes, page_predicate
from shared.embedding.embedder import Space
from shared.postgres.pool import Pool, open_pool
from shared.vectors.edge_shard import EdgeShard
from shared.vectors.filter import EVERYTHING, NOTHING, All, AnyOf, FieldExists, FieldIn, FieldRange, Not, PointFilter
from shared.vectors.payload import stored_filter, stored_payload
from shared.vectors.server import QdrantServerStore
from shared.vectors.server_filter import to_filter
from shared.vectors.store import Point, PointQuery, VectorStore
from tests.contract.filter_data import PATHS, fields, filters, payload
from tests.contract.vector_stores import fast_folder, new_space, number, point, unit, words
from tests.fakes.filter_matching import matches

pytestmark = [
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant"),
    pytest.mark.filterwarnings("ignore:Local mode performs exact"),
]

PAGES = st.lists(st.tuples(st.sampled_from(PATHS), fields()), min_size=1, max_size=10)
FILTERS = st.lists(filters(), min_size=1, max_size=8)

EACH_KIND: list[PointFilter] = [
    All(),
    AnyOf(),
    Not(All()),
    FieldIn("tags", ()),
    Not(FieldIn("tags", ("a",))),
    AnyOf((FieldIn("kind", ("raw",)), Not(FieldExists("area")))),
    FieldRange("confidence", "number", gte=0.5, lt=1.5),
    Not(FieldRange("confidence", "date")),
    FieldRange("period", "date", gt=1735603200.0, lte=1735689600.0),
    FieldRange("level", "number"),
    FieldIn("path_prefixes", ("wiki/", "note.md", "/")),
    All((FieldExists("tags"), Not(AnyOf((FieldIn("level", (1,)), FieldIn("level", ("true",))))))),
]
ODD_PAGES: list[tuple[str, dict[str, object]]] = [
    ("note.md", {}),
    ("wiki/a.md", {"tags": [], "level": None, "confidence": "x"}),
    ("wiki/sub/a.md", {"tags": ["a", None], "level": [1, "2"], "level_number": [1.0, 2.0], "area": ""}),
    ("raw/a.md", {"confidence": 0.5, "confidence_number": 0.5, "period": "2025-01-01", "period_date": 1735689600.0}),
]


def expected(pages: Sequence[tuple[str, dict[str, object]]], where: PointFilter) -> set[int]:
    return {
        place
        for place, (path, front_matter) in enumerate(pages)
        if matches(stored_payload(payload(path, front_matter)), where)
    }


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pages=PAGES, asked=FILTERS)
@example(pages=ODD_PAGES, asked=EACH_KIND)
async def test_a_filter_selects_in_every_store_what_it_means(
    store: VectorStore, space: Space, pages: list[tuple[str, dict[str, object]]], asked: list[PointFilter]
) -> None:
    await store.delete(space.name, [id async for id in store.ids(space.name)])
    await store.upsert(
        space.name,
        [Point(number(place), words(1), payload(*page), unit(1, place)) for place, page in enumerate(pages)],
    )
    queries = [PointQuery(vector, 20, where) for where in asked for vector in (unit(1), words(1))]
    found = [{hit.id.int for hit in hits} for hits in await store.search(space.name, queries)]
    assert found == [expected(pages, query.where) for query in queries]


async def test_nothing_is_not_the_empty_filter_that_an_engine_takes_for_everything() -> None:
    async with aclosing(QdrantServerStore(client := AsyncQdrantClient(":memory:"))) as server:
        await server.ensure_space(space := new_space())
        await server.upsert(space.name, [point(1)])
        assert (await client.count(space.name, to_filter(NOTHING))).count == 0
        assert (await client.count(space.name, to_filter(EVERYTHING))).count == 1
    with fast_folder() as folder:
        shard = EdgeShard.create(folder / "shard", space.dimension)
        shard.upsert([point(1)])
        assert shard.count(NOTHING) == 0
        assert shard.count(EVERYTHING) == 1
        shard.close()


@pytest.fixture
async def pool(database: str) -> AsyncGenerator[Pool]:
    async with open_pool(database) as pool:
        await pool.execute("INSERT INTO vaults (vault_id, settings) VALUES ('v', '{}')")
        yield pool


async def store_pages(pool: Pool, pages: Sequence[tuple[str, dict[str, object]]]) -> None:
    await pool.execute("DELETE FROM pages")
    await pool.execute(
        "ALTER TABLE pages DROP CONSTRAINT IF EXISTS pages_vault_id_path_key"
    )  # as examples repeat paths
    await pool.executemany(
        "INSERT INTO pages (page_id, vault_id, path, disk_path, revision, content_hash, stem, title, slug, kind,"
        " language, front_matter, fields) VALUES ($1, 'v', $2, $2, 1, '', '', $2, 'slug', $3, 'en', '{}', $4)",
        [
            (UUID(int=place), path, path.partition("/")[0], stored_payload(front_matter))
            for place, (path, front_matter) in enumerate(pages)
        ],
    )


async def passing(pool: Pool, where: PointFilter) -> set[int]:
    asked = page_predicate(where)
    rows = await pool.fetch(f"SELECT page_id FROM pages p WHERE {page_passes(1, 2)}", asked.path, asked.variables)
    return {row["page_id"].int for row in rows}


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pages=PAGES, asked=FILTERS)
@example(pages=ODD_PAGES, asked=EACH_KIND)
async def test_a_filter_selects_in_postgres_what_it_means(
    pool: Pool, pages: list[tuple[str, dict[str, object]]], asked: list[PointFilter]
) -> None:
    await store_pages(pool, pages)
    for where in asked:
        assert await passing(pool, where) == expected(pages, where)
        assert await passing(pool, Not(where)) == expected(pages, Not(where))


@given(pages=PAGES, where=filters())
def test_the_simplest_form_of_a_filter_means_the_same(
    pages: list[tuple[str, dict[str, object]]], where: PointFilter
) -> None:
    simple = stored_filter(where)
    assert expected(pages, simple) == expected(pages, where)
    assert stored_filter(simple) == simple
