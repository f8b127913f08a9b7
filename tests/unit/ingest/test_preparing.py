"""Pages prepared in processes of their own are what they would be here, whatever happens to those processes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Generator
from dataclasses import replace

import psutil
import pytest

from services.ingest.page import PreparedPage
from services.ingest.preparing import PoolOptions, Preparing
from shared.contracts.files import FileChanged, VaultSettings
from shared.ids import content_hash, page_id
from shared.vectors.bm25 import Bm25Encoder

SETTINGS = VaultSettings(vault_id="v")
OPTIONS = PoolOptions(processes=1, bulk=4, slice=3)


def present(path: str, content: bytes) -> FileChanged:
    return FileChanged(
        vault_id="v", path=path, disk_path=path, page_id=page_id("v", path), change="present", content=content,
        content_hash=content_hash(content), size_bytes=len(content),
    )  # fmt: skip


MESSAGES = [
    *(present(f"note-{n}.md", f"# Note {n}\n\nSome words about {n}.\n".encode()) for n in range(8)),
    present("binary.md", b"\x00\x01"),
    present("gone.md", b"x").model_copy(update={"change": "removed", "content": None}),
    present("closed.md", b"x").model_copy(update={"change": "unreadable", "content": None, "reason": "No right."}),
]


@pytest.fixture
def pooled() -> Generator[Preparing]:
    """Yield one that uses a pool of one process for four pages or more."""
    opened = Preparing(OPTIONS)
    yield opened
    opened.end()


async def until_up(preparing: Preparing) -> list[PreparedPage | str | None]:
    """Return the first outcomes that come from the pool: they hold weights."""
    async with asyncio.timeout(60):
        while True:
            outcomes = await preparing.outcomes(MESSAGES, SETTINGS)
            first = outcomes[0]
            if isinstance(first, PreparedPage) and first.weights:
                return outcomes
            await asyncio.sleep(0.05)


def children() -> list[psutil.Process]:
    return [child for child in psutil.Process(os.getpid()).children() if "spawn_main" in " ".join(child.cmdline())]


async def test_the_pool_gives_what_this_process_would_give_and_the_weights_of_all_words(pooled: Preparing) -> None:
    here = await Preparing(PoolOptions(processes=0)).outcomes(MESSAGES, SETTINGS)
    there = await until_up(pooled)
    assert [replace(each, weights=()) if isinstance(each, PreparedPage) else each for each in there] == here
    encoder = Bm25Encoder()
    for page in there:
        if isinstance(page, PreparedPage):
            assert list(page.weights) == [encoder.document(c.lexical_text, page.language) for c in page.chunks]
    assert [type(each) for each in there[8:]] == [str, type(None), str]


async def test_few_pages_start_no_process(pooled: Preparing) -> None:
    before = len(children())
    outcomes = await pooled.outcomes(MESSAGES[:3], SETTINGS)
    assert all(isinstance(each, PreparedPage) and not each.weights for each in outcomes)
    assert len(children()) == before


async def test_pages_are_prepared_here_when_the_pool_breaks_and_there_again_later(pooled: Preparing) -> None:
    await until_up(pooled)
    for child in children():
        child.send_signal(signal.SIGKILL)
    outcomes = await pooled.outcomes(MESSAGES, SETTINGS)
    assert len(outcomes) == len(MESSAGES)
    assert isinstance(outcomes[0], PreparedPage)
    await until_up(pooled)


_DIES_AT_ONCE = """
import asyncio, os, signal, time
import psutil
from services.ingest.preparing import PoolOptions, Preparing

async def main():
    preparing = Preparing(PoolOptions(processes=1, start_after_s=0.0))
    preparing.begin()
    while not (started := [c.pid for c in psutil.Process().children() if "spawn_main" in " ".join(c.cmdline())]):
        await asyncio.sleep(0.01)
    print(*started, flush=True)
    await asyncio.sleep(DELAY)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


@pytest.mark.parametrize("delay_s", [0.0, 0.3, 0.8])
async def test_no_process_of_the_pool_outlives_a_service_that_is_killed(delay_s: float) -> None:
    program = _DIES_AT_ONCE.replace("DELAY", str(delay_s))
    service = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    async with asyncio.timeout(60):  # the pipe ends when nobody holds it any more
        said, _ = await service.communicate()
    assert said
    async with asyncio.timeout(20):
        while any(psutil.pid_exists(pid) for pid in map(int, said.split())):  # noqa: ASYNC110  (not our child)
            await asyncio.sleep(0.05)


async def test_a_pool_that_is_not_needed_any_more_ends() -> None:
    preparing = Preparing(replace(OPTIONS, idle_s=0.2))
    await until_up(preparing)
    processes = children()
    assert processes
    _, alive = await asyncio.to_thread(psutil.wait_procs, processes, 20)
    assert not alive
