"""Retrieval's one read of the page graph, on settled edges and links of a real server."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator
from dataclasses import replace
from uuid import UUID

import pytest

from services.ingest.adapters.postgres.edges import PostgresEdges
from services.ingest.edge_keeping import EdgeKeeper
from services.ingest.edges import EdgeRules
from services.retrieval.adapters.postgres.live_pages import PostgresLivePages
from services.retrieval.expansion import STEP_DECAY, Bounds, walk
from services.retrieval.ports import Neighbours, Reach
from shared.postgres.pool import Pool, open_pool
from tests.real.edge_vault import EdgeVault, note, random_note, stored

REACH = Reach(steps=2, total=5, fan_out=32, degree_limit=64, step_decay=STEP_DECAY)


@pytest.fixture
async def pool(database: str) -> AsyncGenerator[Pool]:
    async with open_pool(database, max_size=4) as pool:
        yield pool


@pytest.fixture
def vault(pool: Pool) -> EdgeVault:
    return EdgeVault(pool)


async def settle(pool: Pool) -> None:
    await EdgeKeeper(PostgresEdges(pool, EdgeRules())).keep()


async def test_before_edges_are_settled_links_count_and_afterwards_all_signals(pool: Pool, vault: EdgeVault) -> None:
    await vault.put(("a.md", note(["b"], ["s"], "entity")), ("b.md", note([], ["s"], "concept")))
    pages = PostgresLivePages(pool)

    fresh = await pages.neighbours(dict.fromkeys([vault.id("a.md")], 1.0), REACH)
    await settle(pool)
    settled = await pages.neighbours(dict.fromkeys([vault.id("a.md")], 1.0), REACH)

    assert fresh[vault.id("a.md")] == Neighbours("a", "a", ((vault.id("b.md"), 3.0),))
    assert settled[vault.id("a.md")].linked[0] == (vault.id("b.md"), pytest.approx(3.0 + 4.0 + 1.2))


async def test_pages_that_share_a_source_are_neighbours_without_any_link(pool: Pool, vault: EdgeVault) -> None:
    await vault.put(("a.md", note([], ["s"])), ("b.md", note([], ["s"])))
    await settle(pool)

    found = await PostgresLivePages(pool).neighbours(dict.fromkeys([vault.id("a.md")], 1.0), REACH)

    assert found[vault.id("a.md")].linked == ((vault.id("b.md"), 4.0),)


async def test_a_page_that_lists_others_is_no_way_to_them(pool: Pool, vault: EdgeVault) -> None:
    await vault.put(("a.md", note(["index"])), ("index.md", note(["b"])), ("b.md", note()))
    await settle(pool)

    found = await PostgresLivePages(pool).neighbours(dict.fromkeys([vault.id("a.md")], 1.0), REACH)

    assert set(found) == {vault.id("a.md")}


@pytest.mark.parametrize("seed", range(4))
async def test_what_is_read_is_enough_for_the_best_pages_of_a_walk_over_everything(
    pool: Pool, vault: EdgeVault, seed: int
) -> None:
    rng = random.Random(seed)
    stems = [f"p{number}" for number in range(40)]
    await vault.put(*((f"{stem}.md", random_note(rng, stems)) for stem in stems))
    await settle(pool)
    everything: dict[UUID, list[tuple[UUID, float]]] = {}
    for (page, other), (weight, *_) in (await stored(pool)).items():
        everything.setdefault(page, []).append((other, weight))
    around = {page: _neighbours(linked) for page, linked in everything.items()}

    for total in (1, 3, 8, 40):
        seeds = {vault.id(f"{stem}.md"): rng.choice((1.0, 0.5, 0.01)) for stem in rng.sample(stems, 3)}
        read = await PostgresLivePages(pool).neighbours(seeds, replace(REACH, total=total))
        bounds = Bounds(depth=2, total=total)
        best, complete = walk(read, seeds, (), bounds), walk(around, seeds, (), bounds)
        assert [each.weight for each in best] == pytest.approx([each.weight for each in complete], abs=0.002)


def _neighbours(linked: list[tuple[UUID, float]]) -> Neighbours:
    return Neighbours("any", "any", tuple(sorted(linked, key=lambda item: (-item[1], item[0]))[: REACH.fan_out]))
