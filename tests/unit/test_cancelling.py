"""A loop ends when it is cancelled, also when a library swallows the cancellation."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from shared.cancelling import end_if_cancelled


async def test_a_loop_whose_cancellation_was_swallowed_ends_at_its_next_round() -> None:
    waiting = asyncio.Event()

    async def swallow() -> None:
        with suppress(asyncio.CancelledError):  # as asyncio.wait_for before Python 3.12 may do
            waiting.set()
            await asyncio.sleep(60)

    async def loop() -> None:
        while True:
            await swallow()
            end_if_cancelled()

    task = asyncio.create_task(loop())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)


async def test_a_task_that_nobody_cancelled_goes_on_also_after_a_timeout_of_its_own() -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(0):
            await asyncio.sleep(60)
    end_if_cancelled()
