from __future__ import annotations

import asyncio

import pytest

from services.retrieval.recent_vaults import RecentVaults
from shared.errors import NotFound, Unavailable
from tests.fakes.in_memory_live_pages import InMemoryLivePages
from tests.unit.retrieval.scene import VAULT, page


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def catalogue() -> InMemoryLivePages:
    return InMemoryLivePages({VAULT: [page("index.md", "a"), page("b.md", "b")], "other": []})


async def test_a_vault_is_read_once_within_its_age() -> None:
    pages, clock = catalogue(), Clock()
    vaults = RecentVaults(pages, ("index",), clock=clock)

    first = await vaults.get(VAULT)
    clock.now_s = 0.9

    assert await vaults.get(VAULT) is first
    assert first.traits.hubs == {page("index.md").id}
    assert pages.reads == ["vault", "traits"]


async def test_an_older_vault_is_read_again_its_languages_only_after_a_change() -> None:
    pages, clock = catalogue(), Clock()
    vaults = RecentVaults(pages, (), clock=clock)
    await vaults.get(VAULT)

    clock.now_s = 1.1
    await vaults.get(VAULT)
    assert pages.reads == ["vault", "traits", "vault"]

    clock.now_s, pages.data_version = 2.2, 2
    assert (await vaults.get(VAULT)).state.data_version == 2
    assert pages.reads[3:] == ["vault", "traits"]


async def test_while_one_caller_reads_again_others_take_what_is_kept() -> None:
    pages, clock = catalogue(), Clock()
    vaults = RecentVaults(pages, (), clock=clock)
    await vaults.get(VAULT)
    clock.now_s, pages.hanging = 1.1, {"vault"}

    renewing = asyncio.create_task(vaults.get(VAULT))
    await asyncio.sleep(0)
    await vaults.get(VAULT)
    assert pages.reads.count("vault") == 2

    renewing.cancel()
    await asyncio.wait([renewing])
    pages.hanging.clear()
    await vaults.get(VAULT)
    assert pages.reads.count("vault") == 3, "a reading that was given up is done by the next caller"


async def test_a_vault_that_went_is_not_found_and_one_that_came_is() -> None:
    pages, clock = catalogue(), Clock()
    vaults = RecentVaults(pages, (), clock=clock)
    await vaults.get(VAULT)
    del pages.vaults[VAULT]
    clock.now_s = 1.1

    with pytest.raises(NotFound):
        await vaults.get(VAULT)
    pages.vaults[VAULT] = []
    assert (await vaults.get(VAULT)).traits.languages == ()


async def test_no_space_is_unavailable() -> None:
    pages = catalogue()
    pages.space = None

    with pytest.raises(Unavailable):
        await RecentVaults(pages, ()).get(VAULT)


async def test_no_more_vaults_are_kept_than_allowed() -> None:
    pages = catalogue()
    vaults = RecentVaults(pages, (), max_vaults=1, clock=Clock())

    for name in (VAULT, "other", VAULT):
        await vaults.get(name)

    assert pages.reads.count("vault") == 3
