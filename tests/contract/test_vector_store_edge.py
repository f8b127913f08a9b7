"""What only the in-process store has to do: keep its folder whole, whoever dies when, and say what is wrong."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest
import qdrant_edge as engine

from shared.embedding.embedder import Space
from shared.errors import InvalidInput, NotFound, SpaceMismatch, Unavailable
from shared.vectors.edge import EdgeOptions, QdrantEdgeStore
from shared.vectors.edge_shard import EdgeShard
from shared.vectors.filter import FieldIn, FieldRange
from shared.vectors.ranges import RANGE_KEYS
from shared.vectors.store import PointQuery
from tests.contract.vector_stores import DIMENSION, fast_folder, number, point, unit, words

SPACE = Space("crash", DIMENSION, 1)


@pytest.fixture
def blocked_folder(folder: Path) -> Path:
    folder.write_text("a file stands in the way")
    return folder


@pytest.fixture
def folder() -> Iterator[Path]:
    with fast_folder() as made:
        yield made / "vectors"


@asynccontextmanager
async def opened(folder: Path, **options: float) -> AsyncGenerator[QdrantEdgeStore]:
    settings = EdgeOptions(min_free_bytes=int(options.get("min_free_bytes", 0)))
    async with aclosing(await QdrantEdgeStore.open(folder, settings)) as store:
        yield store


async def stored(store: QdrantEdgeStore) -> list[int]:
    return [id.int async for id in store.ids(SPACE.name)]


async def test_a_closed_store_opens_with_all_that_it_had(folder: Path) -> None:
    async with opened(folder) as store:
        await store.ensure_space(SPACE)
        await store.upsert(SPACE.name, [point(1, terms=[1], kind="wiki"), point(2, terms=[2])])
        await store.set_dense(SPACE.name, {number(1): unit(1)})
    async with opened(folder) as store:
        wiki = FieldIn("kind", ("wiki",))
        hits = await store.search(SPACE.name, [PointQuery(unit(1), 5, wiki), PointQuery(words(2), 5)])
        assert [[hit.id.int for hit in answer] for answer in hits] == [[1], [2]]
        await store.ensure_space(SPACE)
        await store.upsert(SPACE.name, [point(3)])
        assert await stored(store) == [1, 2, 3]


async def test_a_shard_of_a_version_that_knew_no_ranges_gets_their_indexes(folder: Path) -> None:
    path = folder / "old"
    EdgeShard.create(path, DIMENSION).close()
    old = engine.EdgeShard.load(str(path))
    for key in RANGE_KEYS:
        old.update(engine.UpdateOperation.delete_field_index(key))
    old.close()
    shard = EdgeShard.load(path, DIMENSION)
    shard.upsert([point(1, level_number=1.0), point(2, level_number=2.0)])
    assert shard.count(FieldRange("level", "number", gt=1.0)) == 1
    shard.close()
    assert set(RANGE_KEYS) <= set(engine.EdgeShard.load(str(path)).info().payload_schema)


async def test_only_one_process_has_it_open_and_the_other_is_told(folder: Path) -> None:
    async with opened(folder):
        with pytest.raises(Unavailable, match=r"open in another process \(pid \d+\).*choose another data folder"):
            await QdrantEdgeStore.open(folder)
    async with opened(folder):
        pass


async def test_a_folder_that_cannot_be_made_is_unavailable(blocked_folder: Path) -> None:
    with pytest.raises(Unavailable, match="can't be written"):
        await QdrantEdgeStore.open(blocked_folder)


async def test_a_closed_store_is_unavailable(folder: Path) -> None:
    async with opened(folder) as store:
        await store.ensure_space(SPACE)
    with pytest.raises(Unavailable, match="closed"):
        await store.count(SPACE.name)
    await store.aclose()


async def test_a_wiped_folder_is_an_empty_store(folder: Path) -> None:
    async with opened(folder) as store:
        await store.ensure_space(SPACE)
        await store.upsert(SPACE.name, [point(1)])
    shutil.rmtree(folder)
    async with opened(folder) as store:
        with pytest.raises(NotFound):
            await store.count(SPACE.name)
        await store.ensure_space(SPACE)
        assert await store.count(SPACE.name) == 0


async def test_a_name_that_leads_out_of_the_folder_is_refused(folder: Path) -> None:
    async with opened(folder) as store:
        for name in ("../elsewhere", "", "a/b", "LOCK"):
            with pytest.raises(InvalidInput, match="can't name a space"):
                await store.drop_space(name)


async def test_another_dimension_is_refused_after_reopening(folder: Path) -> None:
    class Renamed(Space):
        @property
        def name(self) -> str:
            return SPACE.name

    async with opened(folder) as store:
        await store.ensure_space(SPACE)
    async with opened(folder) as store:
        with pytest.raises(SpaceMismatch, match="Restore the model's settings"):
            await store.ensure_space(Renamed(SPACE.model, DIMENSION * 2, 1))


@pytest.mark.parametrize("damage", ["pointer", "segment", "config", "gone"])
async def test_a_damaged_shard_says_what_to_do(folder: Path, damage: str) -> None:
    async with opened(folder) as store:
        await store.ensure_space(SPACE)
        await store.upsert(SPACE.name, [point(id, dense=unit(1)) for id in range(50)])
    home = folder / SPACE.name
    [shard] = [entry for entry in home.iterdir() if entry.is_dir()]
    match damage:
        case "pointer":
            (home / "CURRENT").write_text("{")
        case "segment":
            [found, *_] = shard.glob("segments/*/segment.json")
            found.write_text("nonsense")
        case "config":
            (shard / "edge_config.json").write_text("nonsense")
        case _:
            shutil.rmtree(shard)
    async with opened(folder) as store:
        with pytest.raises(InvalidInput, match=r"damaged .*delete that folder and start again"):
            await store.ensure_space(SPACE)
        with pytest.raises(InvalidInput, match="damaged"):
            await store.count(SPACE.name)


async def test_a_full_disk_refuses_writes_but_not_reads_and_deletes(folder: Path) -> None:
    async with opened(folder) as store:
        await store.ensure_space(SPACE)
        await store.upsert(SPACE.name, [point(1), point(2)])
    async with opened(folder, min_free_bytes=1e18) as store:
        with pytest.raises(Unavailable, match="free some space"):
            await store.upsert(SPACE.name, [point(3)])
        with pytest.raises(Unavailable, match="free some space"):
            await store.ensure_space(Space("another", DIMENSION, 1))
        await store.delete(SPACE.name, [number(2)])
        assert await stored(store) == [1]


async def test_text_that_is_no_text_is_refused_and_harms_only_itself(folder: Path) -> None:
    async with opened(folder) as store:
        await store.ensure_space(SPACE)
        with pytest.raises(InvalidInput, match="can't keep"):
            await store.upsert(SPACE.name, [point(1, title="\ud800")])
        await store.upsert(SPACE.name, [point(2)])
    async with opened(folder) as store:
        assert await stored(store) == [2]


async def test_changes_are_flushed_regularly(folder: Path) -> None:
    options = EdgeOptions(flush_every_s=0.01, min_free_bytes=0)
    async with aclosing(await QdrantEdgeStore.open(folder, options)) as store:
        await store.ensure_space(SPACE)
        await store.upsert(SPACE.name, [point(1)])
        [state] = (folder / SPACE.name).glob("*/segments/*/segment.json")  # written by a flush only
        before = state.stat().st_mtime_ns
        async with asyncio.timeout(20):
            while state.stat().st_mtime_ns == before:  # noqa: ASYNC110 - the store writes the file on its own
                await asyncio.sleep(0.01)


WRITER = """
import asyncio, sys
from pathlib import Path
from shared.vectors.edge import EdgeOptions, QdrantEdgeStore
from tests.contract.test_vector_store_edge import SPACE
from tests.contract.vector_stores import number, point, unit

async def main() -> None:
    store = await QdrantEdgeStore.open(Path(sys.argv[1]), EdgeOptions(min_free_bytes=0))
    await store.ensure_space(SPACE)
    first = max([id.int async for id in store.ids(SPACE.name)], default=1)  # the last may be half written
    for id in range(first, first + 100_000):
        await store.upsert(SPACE.name, [point(id, terms=[id % 7], kind="new")])
        await store.rewrite(SPACE.name, [point(id, terms=[id % 7], kind="rewritten")])
        await store.set_dense(SPACE.name, {number(id): unit(1)})
        print(id, flush=True)

asyncio.run(main())
"""


def written_until_killed(folder: Path, count: int) -> int:
    """Start a process that writes points, kill it after `count` of them, return the last it said was written."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        said = [int(writer.stdout.readline()) for _ in range(count)]
        writer.send_signal(signal.SIGKILL)
        said += [int(line) for line in writer.stdout.read().split("\n")[:-1]]
    return said[-1]


@pytest.mark.crash
async def test_nothing_that_was_written_is_lost_when_the_process_is_killed(folder: Path) -> None:
    for count in (40, 1, 90):
        last = written_until_killed(folder, count)
        async with opened(folder) as store:
            assert (await stored(store))[:last] == list(range(1, last + 1))
            rewritten = FieldIn("kind", ("rewritten",))
            [hits] = await store.search(SPACE.name, [PointQuery(unit(1), 10_000, rewritten)])
            assert set(range(1, last + 1)) <= {hit.id.int for hit in hits}
