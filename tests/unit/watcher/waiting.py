"""Waiting for what a running watcher does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from services.ingest.watcher.options import WatchOptions
from services.ingest.watcher.watcher import Watcher
from tests.fakes.in_memory_file_log import InMemoryFileLog
from tests.unit.watcher.vault import QUICK, Vault

SILENT = replace(QUICK, watch=WatchOptions(quiet_ms=6_000))
"""The kernel's first word would come after 3 seconds."""


def has(path: str, text: str) -> Callable[[InMemoryFileLog], bool]:
    """Return the question whether a file's newest message says `text`."""
    return lambda log: path in log.files() and log.files()[path].content == text.encode()


async def wait_until(is_so: Callable[[], bool], timeout_s: float = 20.0) -> None:
    """Wait for a state that tells nobody when it changes."""
    async with asyncio.timeout(timeout_s):
        while not is_so():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def write_until(vault: Vault, path: str) -> None:
    """Write a file anew until an event of it arrives."""
    for number in range(200):
        vault.write(path, f"written {number}")
        try:
            await vault.log.until(has(path, f"written {number}"), timeout_s=0.2)
        except TimeoutError:
            continue
        return
    raise AssertionError(f"{path} is not watched")


@asynccontextmanager
async def running(watcher: Watcher) -> AsyncGenerator[None]:
    """Run a watcher for the length of a block."""
    task = asyncio.create_task(watcher.run())
    yield
    task.cancel()
    await asyncio.wait((task,))
    assert task.cancelled()
