"""Compaction of the in-process store: everything goes on meanwhile, and whoever is killed, nothing is lost."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import numpy as np
import psutil
import pytest

from shared.embedding.embedder import Space, Vectors
from shared.vectors.edge import EdgeOptions, QdrantEdgeStore
from shared.vectors.store import PointQuery, VectorStore
from tests.contract.vector_stores import DIMENSION, fast_folder, number, point, unit, words
from tests.fakes.in_memory_vector_store import InMemoryVectorStore

SPACE = Space("compacted", DIMENSION, 1)
OPTIONS = EdgeOptions(compact_above=900, min_free_bytes=0)
ENOUGH = 1_000
"""Points that start a compaction: the store looks after each thousand."""


@pytest.fixture
def folder() -> Iterator[Path]:
    with fast_folder() as made:
        yield made / "vectors"


@asynccontextmanager
async def opened(folder: Path, options: EdgeOptions = OPTIONS) -> AsyncGenerator[QdrantEdgeStore]:
    async with aclosing(await QdrantEdgeStore.open(folder, options)) as store:
        await store.ensure_space(SPACE)
        yield store


def current(folder: Path) -> str:
    return json.loads((folder / SPACE.name / "CURRENT").read_text())["generation"]


def shards(folder: Path) -> list[str]:
    return [entry.name for entry in (folder / SPACE.name).iterdir() if entry.is_dir()]


def children_of(pid: int) -> list[psutil.Process]:
    compacting = (child for child in psutil.Process(pid).children() if "shared.vectors.compaction" in child.cmdline())
    return list(compacting)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - another process brings it about
            await asyncio.sleep(0.005)


def vectors(count: int) -> Vectors:
    return np.random.default_rng(3).standard_normal((count, DIMENSION)).astype(np.float32)


async def fill(stores: list[VectorStore], count: int = ENOUGH) -> None:
    made = vectors(count)
    points = [point(id, terms=[id % 11, 100 + id % 3], dense=made[id], kind="old") for id in range(count)]
    for store in stores:
        await store.upsert(SPACE.name, points)


async def write_at_random(stores: list[VectorStore], rng: random.Random) -> None:
    id = rng.randrange(2 * ENOUGH)
    some = unit(1 + rng.random(), rng.random(), rng.random())
    for store in stores:
        match id % 4:
            case 0:
                await store.upsert(SPACE.name, [point(id, terms=[id % 11], dense=some, kind="new")])
            case 1:
                await store.rewrite(SPACE.name, [point(id, terms=[200 + id % 5], kind="rewritten")])
            case 2:
                await store.set_dense(SPACE.name, {number(id): some})
            case _:
                await store.delete(SPACE.name, [number(id)])


async def assert_same(store: VectorStore, reference: VectorStore) -> None:
    assert [id async for id in store.ids(SPACE.name)] == [id async for id in reference.ids(SPACE.name)]
    queries = [PointQuery(words(term), 3 * ENOUGH) for term in (1, 5, 101, 200, 203)]
    queries.append(PointQuery(unit(1, 1), 3 * ENOUGH))
    answers, expected = [await one.search(SPACE.name, queries) for one in (store, reference)]
    for hits, wanted in zip(answers, expected, strict=True):
        assert {hit.id for hit in hits} == {hit.id for hit in wanted}
    scores = {hit.id: hit.score for hit in expected[-1]}
    assert all(abs(hit.score - scores[hit.id]) < 1e-4 for hit in answers[-1])


async def test_reads_and_writes_go_on_and_nothing_is_lost(folder: Path) -> None:
    reference, rng = InMemoryVectorStore(), random.Random(5)
    await reference.ensure_space(SPACE)
    async with opened(folder) as store:
        before = current(folder)
        await fill([store, reference])
        settled = asyncio.create_task(store.settled())
        rounds = 0
        while not settled.done():
            await write_at_random([store, reference], rng)
            [hits] = await store.search(SPACE.name, [PointQuery(words(1), 5)])
            assert len(hits) == 5
            await asyncio.sleep(0.002)  # the compacting process needs the processor too
            rounds += 1
        assert rounds > 10
        assert current(folder) != before
        await assert_same(store, reference)
        await write_at_random([store, reference], rng)
        await assert_same(store, reference)
    async with opened(folder) as store:
        await assert_same(store, reference)
        assert shards(folder) == [current(folder)]


async def test_a_compacted_space_finds_what_an_exact_search_finds(folder: Path) -> None:
    space = Space("clustered", 32, 1)
    rng = np.random.default_rng(11)
    centres = rng.standard_normal((40, space.dimension))
    made = (centres[rng.integers(0, 40, 3_000)] + 0.4 * rng.standard_normal((3_000, space.dimension))).astype(
        np.float32
    )
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    async with opened(folder) as store:
        await store.ensure_space(space)
        await store.upsert(space.name, [point(id, dense=made[id]) for id in range(3_000)])
        await store.settled()
        found = 0
        for query in made[::60]:
            exact = {int(id) for id in np.argsort(-(made @ query), kind="stable")[:10]}
            [hits] = await store.search(space.name, [PointQuery(query, 10)])
            found += len(exact & {hit.id.int for hit in hits})
        assert found / (len(made[::60]) * 10) >= 0.95


async def test_many_deleted_points_are_cleared_away(folder: Path) -> None:
    async with opened(folder) as store:
        before = current(folder)
        points = [point(id) for id in range(ENOUGH)]
        await store.upsert(SPACE.name, points)
        await store.settled()
        assert current(folder) == before, "without dense vectors there is nothing to gain"
        await store.delete(SPACE.name, [one.id for one in points])
        await store.settled()
        assert current(folder) != before
        assert await store.count(SPACE.name) == 0


async def test_a_killed_child_leaves_the_old_shard_and_the_next_try_succeeds(folder: Path) -> None:
    reference = InMemoryVectorStore()
    await reference.ensure_space(SPACE)
    async with opened(folder) as store:
        before = current(folder)
        await fill([store, reference])
        await until(lambda: children_of(psutil.Process().pid))
        for child in children_of(psutil.Process().pid):
            child.kill()
        await store.settled()
        assert current(folder) == before
        assert shards(folder) == [before]
        await assert_same(store, reference)
        await fill([store, reference])
        await store.settled()
        assert current(folder) != before
        await assert_same(store, reference)


async def test_closing_gives_a_compaction_up(folder: Path) -> None:
    reference = InMemoryVectorStore()
    await reference.ensure_space(SPACE)
    async with opened(folder) as store:
        before = current(folder)
        await fill([store, reference])
        await until(lambda: children_of(psutil.Process().pid))
    assert children_of(psutil.Process().pid) == []
    assert shards(folder) == [before]
    async with opened(folder) as store:
        await assert_same(store, reference)


WRITER = """
import asyncio, sys
from pathlib import Path
from tests.contract.test_vector_store_compaction import SPACE, fill, opened
from tests.contract.vector_stores import point, unit

async def main() -> None:
    async with opened(Path(sys.argv[1])) as store:
        await fill([store])
        for id in range(10_000, 1_000_000):
            await store.upsert(SPACE.name, [point(id, terms=[7], dense=unit(1))])
            print(id, flush=True)

asyncio.run(main())
"""


@pytest.mark.crash
@pytest.mark.parametrize("moment", ["started", "copying", "optimising", "switched"])
def test_a_process_that_is_killed_while_it_compacts_loses_nothing(folder: Path, moment: str) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        said = [int(writer.stdout.readline())]
        first = current(folder)
        children = children_of(writer.pid)
        reached: dict[str, Callable[[], bool]] = {
            "started": lambda: True,
            "copying": lambda: len(shards(folder)) > 1,
            "optimising": lambda: any(
                (folder / SPACE.name / shard / "temp_segments").exists() for shard in shards(folder)
            ),
            "switched": lambda: current(folder) != first,
        }
        give_up = time.monotonic() + 60
        while not reached[moment]():
            assert time.monotonic() < give_up
            said.append(int(writer.stdout.readline()))
        if moment in ("copying", "optimising"):
            for child in children:
                child.suspend()  # so that it can't end by itself
        writer.send_signal(signal.SIGKILL)
        said += [int(line) for line in writer.stdout.read().split("\n")[:-1]]
    if sys.platform == "linux":
        _, alive = psutil.wait_procs(children, timeout=10)
        assert alive == [], "the child ends with its parent"
    asyncio.run(assert_all_there(folder, said[-1]))


async def assert_all_there(folder: Path, last: int) -> None:
    async with opened(folder, EdgeOptions(min_free_bytes=0)) as store:
        ids = [id.int async for id in store.ids(SPACE.name)]
        wanted = [*range(ENOUGH), *range(10_000, last + 1)]
        assert ids[: len(wanted)] == wanted
        assert len(ids) - len(wanted) <= 1, "at most the one that was under way"
        [hits] = await store.search(SPACE.name, [PointQuery(unit(1), 1_000_000)])
        assert len(hits) == len(ids)
        assert shards(folder) == [current(folder)]
