"""The engine's process: what a crash of either side leaves, and who may have the folder."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import psutil
import pytest

from shared.embedding.embedder import Space
from shared.errors import Unavailable
from shared.vectors.edge import EdgeOptions
from shared.vectors.edge_process import EdgeProcessStore
from shared.vectors.store import PointQuery
from tests.contract.vector_stores import fast_folder, found, new_space, point, stored, unit, words

_GONE_S = 10.0

_CALLER = """
import asyncio, sys
from pathlib import Path
from shared.vectors.edge_process import EdgeProcessStore

async def main():
    await EdgeProcessStore.open(Path(sys.argv[1]))
    print("open", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture
def folder() -> Generator[Path]:
    """Yield an empty folder."""
    with fast_folder() as fresh:
        yield fresh / "vectors"


@asynccontextmanager
async def opened(folder: Path) -> AsyncGenerator[EdgeProcessStore]:
    """Open the store for the length of the block."""
    async with aclosing(await EdgeProcessStore.open(folder, EdgeOptions(min_free_bytes=0))) as store:
        yield store


def engine_of(pid: int) -> psutil.Process:
    """Return the engine's process of the process `pid`."""
    [engine] = [child for child in psutil.Process(pid).children() if "shared.vectors.edge_child" in child.cmdline()]
    return engine


async def filled(store: EdgeProcessStore) -> Space:
    """Return a new space with two points."""
    space = new_space()
    await store.ensure_space(space)
    await store.upsert(space.name, [point(1, dense=unit(1)), point(2, terms=(7,))])
    return space


async def test_a_killed_engine_is_started_again_and_has_what_was_answered(folder: Path) -> None:
    async with opened(folder) as store:
        space = await filled(store)
        engine = engine_of(os.getpid())
        engine.kill()
        engine.wait(_GONE_S)
        async with asyncio.timeout(_GONE_S):
            while True:
                try:
                    assert await stored(store, space) == [1, 2]
                    break
                except Unavailable:
                    continue
        assert await found(store, space, PointQuery(words(7), 5)) == [2]
        assert engine_of(os.getpid()).pid != engine.pid


async def test_calls_under_way_fail_when_the_engine_dies(folder: Path) -> None:
    async with opened(folder) as store:
        space = await filled(store)
        engine = engine_of(os.getpid())
        engine.send_signal(signal.SIGSTOP)
        calls = [asyncio.create_task(store.count(space.name)) for _ in range(3)]
        await asyncio.sleep(0)
        engine.kill()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [Unavailable] * 3


async def test_a_folder_belongs_to_one_store(folder: Path) -> None:
    async with opened(folder):
        with pytest.raises(Unavailable, match="another process"):
            await EdgeProcessStore.open(folder)
    async with opened(folder):
        pass


async def test_the_engine_ends_with_its_caller(folder: Path) -> None:
    caller = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _CALLER, str(folder), stdout=asyncio.subprocess.PIPE
    )
    assert caller.stdout is not None
    assert await caller.stdout.readline() == b"open\n"
    engine = engine_of(caller.pid)
    caller.kill()
    await caller.wait()
    engine.wait(_GONE_S)
    async with opened(folder):
        pass


async def test_the_engine_outlives_the_signals_of_a_terminal(folder: Path) -> None:
    async with opened(folder) as store:
        space = await filled(store)
        for number in (signal.SIGINT, signal.SIGTERM):
            engine_of(os.getpid()).send_signal(number)
        assert await stored(store, space) == [1, 2]


async def test_a_closed_store_says_so(folder: Path) -> None:
    async with opened(folder) as store:
        space = await filled(store)
    with pytest.raises(Unavailable, match="closed"):
        await store.count(space.name)
    await store.aclose()


async def test_a_folder_that_cannot_be_written_is_told_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable):
        await EdgeProcessStore.open(tmp_path / "file" / "vectors")
