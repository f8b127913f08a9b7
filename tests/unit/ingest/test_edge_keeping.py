from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from services.ingest.edge_keeping import EdgeKeeper, Pace, Settled
from shared.errors import Unavailable

NEVER_S = 3_600.0


@dataclass
class CountedEdges:
    """Marks as counts per vault; tells when something was settled."""

    marked: dict[str, int] = field(default_factory=dict[str, int])
    busy: set[str] = field(default_factory=set[str])
    """Vaults that another keeper is at."""
    batches: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    looked: asyncio.Event = field(default_factory=asyncio.Event)
    down: bool = False

    async def adopt_rules(self) -> bool:
        if self.down:
            raise Unavailable("The database is away.")
        return False

    async def marked_vaults(self) -> list[str]:
        self.looked.set()
        return sorted(vault_id for vault_id, count in self.marked.items() if count)

    async def settle(self, vault_id: str, limit: int) -> Settled | None:
        if vault_id in self.busy:
            self.busy.discard(vault_id)  # it leaves right afterwards
            return None
        pages = min(limit, self.marked[vault_id])
        self.marked[vault_id] -= pages
        self.batches.append((vault_id, pages))
        self.settled.set()
        return Settled(pages, pages, 0)


@asynccontextmanager
async def running(keeper: EdgeKeeper) -> AsyncGenerator[None]:
    task = asyncio.create_task(keeper.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def settled(edges: CountedEdges) -> None:
    async with asyncio.timeout(10):
        await edges.settled.wait()
    edges.settled.clear()


async def test_everything_is_settled_in_batches_vault_by_vault() -> None:
    edges = CountedEdges({"a": 5, "b": 2, "c": 0})

    assert await EdgeKeeper(edges, Pace(batch=2)).keep() == 7

    assert edges.batches == [("a", 2), ("a", 2), ("a", 1), ("b", 2), ("b", 0)]


async def test_marks_of_an_earlier_process_are_settled_at_the_start() -> None:
    edges = CountedEdges({"a": 1})

    async with running(EdgeKeeper(edges, Pace(sweep_s=NEVER_S))):
        await settled(edges)

    assert edges.marked == {"a": 0}


async def test_a_burst_of_commits_is_settled_once_it_is_over() -> None:
    edges = CountedEdges()
    keeper = EdgeKeeper(edges, Pace(quiet_s=0.05, sweep_s=NEVER_S))
    async with running(keeper):
        await edges.looked.wait()
        for _ in range(5):
            edges.marked["a"] = edges.marked.get("a", 0) + 3
            keeper.wake(3)
            await asyncio.sleep(0)
        await settled(edges)

    assert edges.batches == [("a", 15)]


async def test_a_bulk_load_waits_for_a_longer_quiet() -> None:
    edges = CountedEdges({"a": 0})
    keeper = EdgeKeeper(edges, Pace(quiet_s=0.0, bulk_quiet_s=NEVER_S, bulk_marks=10, sweep_s=NEVER_S))
    async with running(keeper):
        await edges.looked.wait()
        edges.marked["a"] = 10
        keeper.wake(10)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await edges.settled.wait()

    assert edges.batches == []


async def test_marks_of_other_processes_are_found_by_looking() -> None:
    edges = CountedEdges()
    async with running(EdgeKeeper(edges, Pace(sweep_s=0.01))):
        edges.marked["a"] = 1
        await settled(edges)

    assert edges.batches == [("a", 1)]


async def test_a_vault_that_another_keeper_is_at_is_looked_at_again_soon() -> None:
    edges = CountedEdges({"a": 1}, busy={"a"})
    async with running(EdgeKeeper(edges, Pace(quiet_s=0.01, sweep_s=NEVER_S))):
        await settled(edges)

    assert edges.batches == [("a", 1)]


async def test_a_database_that_is_away_ends_the_run_for_the_caller_to_repeat() -> None:
    with pytest.raises(Unavailable):
        await EdgeKeeper(CountedEdges(down=True)).run()
