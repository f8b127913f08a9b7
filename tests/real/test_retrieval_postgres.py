"""The promises of LivePages, kept by the fake and by Postgres alike; and what only a real server can show."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Literal

import asyncpg
import pytest

from services.retrieval.adapters.postgres.live_pages import PostgresLivePages
from services.retrieval.ports import Choice, LivePages
from services.retrieval.profiles import BUILT_IN, Profiles, retrievers
from services.retrieval.recent_vaults import RecentVaults
from services.retrieval.searching import Search
from services.retrieval.settings import RetrievalSettings
from shared.contracts.search import SearchRequest
from shared.errors import NotFound, Unavailable
from shared.ids import page_id
from shared.postgres.pool import Pool, open_pool
from tests.fakes.in_memory_live_pages import SPACE, InMemoryLivePages, PageRow
from tests.fakes.watched_search import WatchedEmbedder, WatchedEncoder, store_of

ROSE = PageRow("garden", "wiki/rose.md", ("roses are red", "roses need sun"), links=("wiki/pond.md", "wiki/rose.md"))
POND = PageRow("garden", "wiki/pond.md", ("water",), links=("wiki/rose.md", "wiki/rose.md"), language="de")
OAK = PageRow("garden", "wiki/oak.md", ("tall",), links=("wiki/rose.md",), born_at="wiki/tree.md", title="The oak")
RAW = PageRow("garden", "raw/notes.md", ("notes",), links=("wiki/pond.md",))
INDEX = PageRow("garden", "index.md", (), language="fr")
OTHER = PageRow("elsewhere", "wiki/rose.md", ("roses are red",), links=("garden.md",))
ROWS = {"garden": [ROSE, POND, OAK, RAW, INDEX], "elsewhere": [OTHER]}


async def fill(pool: Pool, vaults: dict[str, list[PageRow]]) -> None:
    """Write what the fake would hold."""
    await pool.execute(
        "INSERT INTO spaces (name, model, dimension, chunker_version, live) VALUES ($1, 'hashing', 256, 1, true)", SPACE
    )
    for vault_id, rows in vaults.items():
        await pool.execute("INSERT INTO vaults VALUES ($1, $2, 1)", vault_id, {"never_cite": ["raw/"]})
        for row in rows:
            await _add_page(pool, row)


async def _add_page(pool: Pool, row: PageRow) -> None:
    await pool.execute(
        "INSERT INTO pages (page_id, vault_id, path, disk_path, revision, content_hash, stem, title, slug, kind,"
        " language, front_matter) VALUES ($1, $2, $3, $3, $4, 'hash', $5, $6, $5, 'wiki', $7, '{}')",
        row.id, row.vault_id, row.path, row.revision, row.stem, row.title or row.stem, row.language,
    )  # fmt: skip
    if row.born_at:
        await pool.execute(
            "INSERT INTO files (vault_id, file_key, path, disk_path, revision, state, page_id, config_hash)"
            " VALUES ($1, 'key', $2, $2, 1, 'removed', $3, 'hash')",
            row.vault_id, row.born_at, row.id,
        )  # fmt: skip
    for chunk in row.chunks():
        await pool.execute(
            "INSERT INTO chunks VALUES ($1, $2, $3, $4, $5, $5, $5, $6, $7, $8, $9, $10, $11, $12, $12)",
            chunk.chunk_id, row.id, row.vault_id, chunk.index, chunk.content_hash, list(chunk.heading_path),
            chunk.char_start, chunk.char_end, chunk.line_start, chunk.line_end, chunk.token_count, chunk.text,
        )  # fmt: skip
    for ordinal, target in enumerate(row.links):
        await pool.execute(
            "INSERT INTO links VALUES ($1, $2, $3, $4, 'stem', NULL, 'wikilink', 0, 'resolved', $5)",
            row.id, ordinal, row.vault_id, target, page_id(row.vault_id, target),
        )  # fmt: skip


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


async def test_neighbours_come_once_in_the_order_of_their_ids_and_without_the_page_itself(pages: LivePages) -> None:
    found = await pages.neighbours([ROSE.id, POND.id, INDEX.id], 10)

    assert found[ROSE.id].outgoing == (POND.id,)
    assert found[ROSE.id].incoming == tuple(sorted([POND.id, OAK.id]))
    assert found[POND.id].incoming == tuple(sorted([ROSE.id, RAW.id]))
    assert found[INDEX.id].outgoing == found[INDEX.id].incoming == ()


async def test_neighbours_are_cut_at_the_limit_in_each_direction(pages: LivePages) -> None:
    found = await pages.neighbours([POND.id], 1)

    assert found[POND.id].incoming == (min(ROSE.id, RAW.id),)


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
