"""The promises of LivePages, kept by the fake and by Postgres alike; and what only a real server can show."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Literal

import asyncpg
import pytest

from services.retrieval.adapters.postgres.live_pages import PostgresLivePages
from services.retrieval.ports import Choice, LivePages, Neighbours, NewerSource, Reach
from services.retrieval.profile_settings import BUILT_IN
from services.retrieval.profiles import Profiles, retrievers
from services.retrieval.recent_vaults import RecentVaults
from services.retrieval.searching import Search
from services.retrieval.settings import RetrievalSettings
from shared.contracts.search import SearchRequest
from shared.errors import NotFound, Unavailable
from shared.postgres.pool import Pool, open_pool
from tests.fakes.in_memory_live_pages import SPACE, InMemoryLivePages, PageRow
from tests.fakes.watched_search import WatchedEmbedder, WatchedEncoder, store_of
from tests.real.live_rows import fill

ROSE = PageRow("garden", "wiki/rose.md", ("roses are red", "roses need sun"), links=("wiki/pond.md", "wiki/rose.md"))
POND = PageRow("garden", "wiki/pond.md", ("water",), links=("wiki/rose.md", "wiki/rose.md"), language="de")
NEWER = NewerSource("raw/notes.md", date(2025, 9, 2), by_file=True, page_as_of=date(2025, 7, 12))
OAK = PageRow(
    "garden",
    "wiki/oak.md",
    ("tall",),
    links=("wiki/rose.md",),
    born_at="wiki/tree.md",
    title="The oak",
    newer_source=NEWER,
)
RAW = PageRow("garden", "raw/notes.md", ("notes",), links=("wiki/pond.md",))
INDEX = PageRow("garden", "index.md", (), language="fr")
OTHER = PageRow("elsewhere", "wiki/rose.md", ("roses are red",), links=("garden.md",))
ROWS = {"garden": [ROSE, POND, OAK, RAW, INDEX], "elsewhere": [OTHER]}


@pytest.fixture
async def writer(database: str) -> AsyncGenerator[Pool]:
    async with open_pool(database) as pool:
        await fill(pool, ROWS)
        yield pool


@pytest.fixture
async def reader(database: str, writer: Pool) -> AsyncGenerator[Pool]:
    async with open_pool(database, read_only=True) as pool:
        yield pool


@pytest.fixture(params=["memory", "postgres"])
def pages(request: pytest.FixtureRequest) -> LivePages:
    kind: Literal["memory", "postgres"] = request.param
    if kind == "memory":
        return InMemoryLivePages({vault_id: list(rows) for vault_id, rows in ROWS.items()})
    return PostgresLivePages(request.getfixturevalue("reader"))


async def test_a_vault_has_its_version_its_exclusions_and_the_live_space(pages: LivePages) -> None:
    found = await pages.vault("garden")

    assert found is not None
    state, space, alone = found
    assert (state.data_version, state.never_cite, space, alone) == (1, ("raw/",), SPACE, False)
    assert await pages.vault("nowhere") is None


async def test_traits_are_the_languages_and_the_hubs(pages: LivePages) -> None:
    traits = await pages.traits("garden", ["index", "log"])

    assert traits.languages == ("de", "en", "fr")
    assert traits.hubs == {INDEX.id}


async def test_a_snapshot_holds_the_live_chunks_of_the_vault_in_the_order_asked_for(pages: LivePages) -> None:
    first, second = ROSE.chunks()
    foreign = OTHER.chunks()[0]
    gone = PageRow("garden", "gone.md", ("gone",)).chunks()[0]

    snapshot = await pages.snapshot("garden", [each.chunk_id for each in (second, gone, foreign, first)])

    assert list(snapshot.chunks.values()) == [second, first]
    assert snapshot.vault.data_version == 1


async def test_a_snapshot_of_no_chunks_still_tells_the_version(pages: LivePages) -> None:
    snapshot = await pages.snapshot("garden", [])

    assert (snapshot.vault.data_version, dict(snapshot.chunks)) == (1, {})


async def test_a_chunk_comes_with_the_source_that_its_page_is_older_than(pages: LivePages) -> None:
    (oak,) = OAK.chunks()
    by_id = (await pages.snapshot("garden", [oak.chunk_id])).chunks
    opened = (await pages.openings("garden", Choice([OAK.id], [], or_first=True, limit=1))).chunks

    assert by_id[oak.chunk_id].newer_source == NEWER
    assert by_id == opened == {oak.chunk_id: oak}


async def test_what_stands_beside_chunks_is_before_and_behind_them_in_this_vault(pages: LivePages) -> None:
    first, second = ROSE.chunks()

    assert (await pages.beside("garden", [first.chunk_id])).chunks == {second.chunk_id: second}
    both = await pages.beside("garden", [first.chunk_id, OTHER.chunks()[0].chunk_id, second.chunk_id])
    assert list(both.chunks.values()) == [second, first]
    with pytest.raises(NotFound):
        await pages.beside("nowhere", [first.chunk_id])


async def test_a_source_that_is_gone_is_no_newer_source(writer: Pool, reader: Pool) -> None:
    await writer.execute("DELETE FROM pages WHERE path = 'raw/notes.md'")
    (oak,) = OAK.chunks()

    snapshot = await PostgresLivePages(reader).snapshot("garden", [oak.chunk_id])

    assert snapshot.chunks[oak.chunk_id].newer_source is None


REACH = Reach(steps=1, total=9, fan_out=32, degree_limit=64, step_decay=0.5)


async def test_links_count_in_both_directions_strongest_first_and_never_the_page_itself(pages: LivePages) -> None:
    found = await pages.neighbours(dict.fromkeys([ROSE.id, INDEX.id], 1.0), REACH)

    assert found == {ROSE.id: Neighbours("rose", "rose", ((POND.id, 6.0), (OAK.id, 3.0)))}


async def test_two_steps_bring_the_neighbours_of_neighbours_as_well(pages: LivePages) -> None:
    found = await pages.neighbours(dict.fromkeys([OAK.id], 1.0), replace(REACH, steps=2))

    assert set(found) == {OAK.id, ROSE.id}
    assert found[ROSE.id].linked == ((POND.id, 6.0), (OAK.id, 3.0))


async def test_a_page_has_no_more_neighbours_than_its_fan_out(pages: LivePages) -> None:
    found = await pages.neighbours(dict.fromkeys([ROSE.id], 1.0), replace(REACH, fan_out=1))

    assert found[ROSE.id].linked == ((POND.id, 6.0),)


async def test_a_page_beyond_the_degree_limit_has_no_neighbours(pages: LivePages) -> None:
    assert await pages.neighbours(dict.fromkeys([ROSE.id], 1.0), replace(REACH, degree_limit=1)) == {}


async def openings(pages: LivePages, choice: Choice) -> list[str]:
    return [chunk.text for chunk in (await pages.openings("garden", choice)).chunks.values()]


async def test_each_page_opens_with_its_best_ranked_chunk_else_with_its_first(pages: LivePages) -> None:
    ranked = [chunk.chunk_id for chunk in reversed(ROSE.chunks())]
    page_ids = [ROSE.id, OTHER.id, INDEX.id, RAW.id, POND.id]

    assert await openings(pages, Choice(page_ids, ranked, or_first=True, limit=9)) == ["roses need sun", "water"]
    assert await openings(pages, Choice(page_ids, ranked, or_first=False, limit=9)) == ["roses need sun"]
    assert await openings(pages, Choice(page_ids, [], or_first=True, limit=9)) == ["roses are red", "water"]


async def test_openings_stop_at_the_limit_counting_only_what_may_be_cited(pages: LivePages) -> None:
    page_ids = [RAW.id, INDEX.id, POND.id, ROSE.id]

    assert await openings(pages, Choice(page_ids, [], or_first=True, limit=1)) == ["water"]


async def test_an_outline_lists_chunks_and_former_paths(pages: LivePages) -> None:
    outline = await pages.outline("garden", OAK.id)

    assert outline is not None
    assert (outline.title, outline.paths) == ("The oak", ("wiki/oak.md", "wiki/tree.md"))
    assert [mark.chunk_id for mark in outline.marks] == [chunk.chunk_id for chunk in OAK.chunks()]
    empty = await pages.outline("garden", INDEX.id)
    assert empty is not None
    assert empty.marks == ()
    assert await pages.outline("garden", OTHER.id) is None


async def test_an_unknown_vault_is_not_found(pages: LivePages) -> None:
    with pytest.raises(NotFound):
        await pages.snapshot("nowhere", [])
    with pytest.raises(NotFound):
        await pages.openings("nowhere", Choice([], [], or_first=True, limit=1))
    with pytest.raises(NotFound):
        await pages.outline("nowhere", ROSE.id)


async def test_settings_that_do_not_say_what_is_never_cited_exclude_raw(writer: Pool, reader: Pool) -> None:
    await writer.execute("UPDATE vaults SET settings = '{}'")
    pages = PostgresLivePages(reader)

    assert (await pages.snapshot("garden", [])).vault.never_cite == ("raw/",)
    assert await openings(pages, Choice([RAW.id], [], or_first=True, limit=1)) == []


async def test_a_server_that_is_away_is_unavailable(reader: Pool) -> None:
    pages = PostgresLivePages(reader)
    await reader.close()

    with pytest.raises(Unavailable, match="reading a vault"):
        await pages.vault("garden")


async def test_a_search_changes_nothing_in_the_database(writer: Pool, reader: Pool) -> None:
    before = await _everything(writer)
    reply = await (await _service(reader)).search("garden", SearchRequest(query="roses", profile="sparse", k=1))

    assert [citation.ref.title for citation in reply.citations] == ["rose", "pond", "The oak"]
    assert await _everything(writer) == before
    with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
        await reader.execute("UPDATE vaults SET data_version = 2")


async def _service(pool: Pool) -> Search:
    embedder, encoder = WatchedEmbedder(), WatchedEncoder()
    store = await store_of(InMemoryLivePages(ROWS), embedder)
    settings = RetrievalSettings()
    pages = PostgresLivePages(pool)
    profiles = Profiles(retrievers(BUILT_IN, store, embedder, encoder), settings.default_profile)
    return Search(pages, RecentVaults(pages, settings.hub_stems), profiles, settings.bounds())


async def _everything(pool: Pool) -> Sequence[Any]:
    tables = ("vaults", "pages", "chunks", "links", "files", "spaces")
    return [await pool.fetch(f"SELECT t.*, t.xmin FROM {table} t ORDER BY t::text") for table in tables]
