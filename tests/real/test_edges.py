"""Edges as the keeper keeps them, on a real server: equal to a full recomputation, whatever happened before."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator

import pytest

from services.ingest.adapters.postgres import edge_statements
from services.ingest.adapters.postgres.edges import PostgresEdges, lock_key
from services.ingest.edge_keeping import EdgeKeeper, Pace
from services.ingest.edges import EdgeRules
from shared.postgres.pool import Pool, open_pool
from tests.real.edge_vault import EdgeVault, differences, note, random_note, recomputed, stored

TIGHT = EdgeRules(degree_limit=4, source_limit=3)
"""Limits that a dozen pages pass."""

STEMS = [f"p{number}" for number in range(12)] + ["index", "log"]


@pytest.fixture
async def pool(database: str) -> AsyncGenerator[Pool]:
    async with open_pool(database, max_size=6) as pool:
        yield pool


@pytest.fixture
def vault(pool: Pool) -> EdgeVault:
    return EdgeVault(pool)


def keeper(pool: Pool, rules: EdgeRules = TIGHT, batch: int = 256) -> EdgeKeeper:
    return EdgeKeeper(PostgresEdges(pool, rules), Pace(batch=batch, quiet_s=0.001, sweep_s=0.01))


async def change(vault: EdgeVault, rng: random.Random) -> None:
    """Do one thing to the vault, in one commit."""
    paths = vault.paths()
    action = rng.choice(["put", "put", "put", "several", "remove", "move"]) if len(paths) > 3 else "put"
    if action == "remove":
        await vault.remove(*rng.sample(paths, rng.choice([1, 1, 2])))
    elif action == "move":
        path, to = rng.choice(paths), f"d{rng.randrange(2)}/{rng.choice(STEMS)}.md"
        if to not in paths:
            await vault.move(path, to, random_note(rng, STEMS))
    else:
        stems = rng.sample(STEMS, 4 if action == "several" else 1)
        await vault.put(*((f"{stem}.md", random_note(rng, STEMS)) for stem in stems))


@pytest.mark.parametrize("seed", range(8))
async def test_after_any_changes_edges_equal_a_full_recomputation(pool: Pool, vault: EdgeVault, seed: int) -> None:
    rng = random.Random(seed)
    other = EdgeVault(pool, "elsewhere")
    keeps = keeper(pool, batch=rng.choice([1, 3, 256]))
    for _ in range(30):
        await change(vault if rng.random() < 0.8 else other, rng)
        if rng.random() < 0.6:
            await keeps.keep()
            assert differences(await stored(pool), await recomputed(pool, TIGHT)) == []
    await keeps.keep()
    assert differences(await stored(pool), await recomputed(pool, TIGHT)) == []


async def test_settling_again_writes_nothing(pool: Pool, vault: EdgeVault) -> None:
    rng = random.Random(1)
    await vault.put(*((f"{stem}.md", random_note(rng, STEMS)) for stem in STEMS))
    edges = PostgresEdges(pool, TIGHT)
    await keeper(pool).keep()
    await pool.execute("INSERT INTO edge_work (vault_id, page_id) SELECT vault_id, page_id FROM pages")

    settled = await edges.settle("garden", 256)

    assert settled is not None
    assert (settled.pages, settled.written, settled.removed) == (len(STEMS), 0, 0)
    assert await stored(pool) != {}


async def test_an_edit_of_text_marks_nothing(pool: Pool, vault: EdgeVault) -> None:
    await vault.put(("a.md", note(["b"], ["s"], "entity")), ("b.md", note()))
    vault.marks.clear()

    await vault.put(("a.md", note(["b"], ["s"], "entity", "Other words.")))
    await vault.move("b.md", "folder/b.md", note(text="Other words."))

    assert vault.marks == []
    assert await pool.fetch("SELECT FROM edge_work WHERE page_id = $1", vault.id("a.md")) != []  # of the first commit


async def test_a_changed_link_marks_its_page_and_both_targets(pool: Pool, vault: EdgeVault) -> None:
    await vault.put(("a.md", note(["b", "d"])), ("b.md", note()), ("c.md", note()), ("d.md", note()))
    await keeper(pool).keep()

    await vault.put(("a.md", note(["c", "d"])))

    marked = {row["page_id"] for row in await pool.fetch("SELECT page_id FROM edge_work")}
    assert marked == {vault.id("a.md"), vault.id("b.md"), vault.id("c.md")}


async def test_a_page_that_appears_marks_the_pages_whose_links_meant_it(pool: Pool, vault: EdgeVault) -> None:
    await vault.put(("a.md", note(["later"])))
    await keeper(pool).keep()

    await vault.put(("later.md", note()))
    await keeper(pool).keep()

    pair = (vault.id("a.md"), vault.id("later.md"))
    assert {pair, pair[::-1]} == set(await stored(pool))


async def test_a_keeper_that_dies_in_a_batch_leaves_marks_and_edges_as_they_were(pool: Pool, vault: EdgeVault) -> None:
    await vault.put(("a.md", note(["b"])), ("b.md", note()))
    await keeper(pool).keep()
    before = await stored(pool)
    await vault.put(("a.md", note(["c"])), ("c.md", note()))
    marks = await pool.fetch("SELECT * FROM edge_work ORDER BY mark")

    async with pool.acquire() as other, other.transaction():
        await other.execute("LOCK TABLE edges IN EXCLUSIVE MODE")
        dying = asyncio.create_task(keeper(pool).keep())
        await until(pool, "SELECT count(*) > 0 FROM pg_locks WHERE relation = 'edges'::regclass AND NOT granted")
        dying.cancel()
        await asyncio.gather(dying, return_exceptions=True)

    assert await stored(pool) == before
    assert await pool.fetch("SELECT * FROM edge_work ORDER BY mark") == marks
    await keeper(pool).keep()
    assert differences(await stored(pool), await recomputed(pool, TIGHT)) == []


async def until(pool: Pool, condition: str) -> None:
    """Return when a condition holds in the database."""
    async with asyncio.timeout(30):
        while not await pool.fetchval(f"SELECT ({condition})"):  # noqa: ASYNC110  (the database tells nobody)
            await asyncio.sleep(0.01)


async def test_two_keepers_and_commits_at_once_end_as_one_would(pool: Pool, vault: EdgeVault) -> None:
    rng = random.Random(2)
    running = [asyncio.create_task(keeper(pool, batch=2).run()) for _ in range(2)]
    for _ in range(20):
        await change(vault, rng)
    await until(pool, "SELECT count(*) = 0 FROM edge_work")
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)

    assert differences(await stored(pool), await recomputed(pool, TIGHT)) == []


async def test_a_vault_that_another_keeper_is_at_is_left_to_it(pool: Pool, vault: EdgeVault) -> None:
    await vault.put(("a.md", note(["b"])), ("b.md", note()))
    edges = PostgresEdges(pool, TIGHT)
    async with pool.acquire() as other, other.transaction():
        await other.execute(edge_statements.BEGIN, lock_key("garden"))

        assert await edges.settle("garden", 256) is None

    assert await edges.settle("garden", 256) is not None


async def test_a_page_that_becomes_a_hub_loses_its_edges_and_connects_nothing(pool: Pool, vault: EdgeVault) -> None:
    around = [f"p{number}" for number in range(5)]
    await vault.put(*((f"{stem}.md", note()) for stem in around), ("topic.md", note(around[:4])))
    await keeper(pool).keep()
    assert len(await stored(pool)) == 2 * (4 + 6)  # topic with each, and each with each

    await vault.put(("topic.md", note(around)))
    await keeper(pool).keep()

    assert await stored(pool) == {}


async def test_a_source_that_passes_its_limit_connects_nobody(pool: Pool, vault: EdgeVault) -> None:
    await vault.put(*((f"p{number}.md", note([], ["s"])) for number in range(3)))
    await keeper(pool).keep()
    assert len(await stored(pool)) == 2 * 3

    await vault.put(("p3.md", note([], ["s"])))
    await keeper(pool).keep()

    assert await stored(pool) == {}


async def test_other_rules_make_all_edges_anew(pool: Pool, vault: EdgeVault) -> None:
    await vault.put(("log.md", note(["a", "b"])), ("a.md", note()), ("b.md", note()))
    await keeper(pool).keep()
    others = EdgeRules(generated_stems=())
    edges = PostgresEdges(pool, others)

    assert await edges.adopt_rules()
    assert not await edges.adopt_rules()
    await EdgeKeeper(edges).keep()

    found = await stored(pool)
    assert found != {}
    assert differences(found, await recomputed(pool, others)) == []


async def test_types_alone_connect_nothing(pool: Pool, vault: EdgeVault) -> None:
    await vault.put(("a.md", note(type_="entity")), ("b.md", note(type_="concept")))
    await keeper(pool).keep()

    assert await stored(pool) == {}
