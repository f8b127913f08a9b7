"""A service as a process: one event loop, ended in order by SIGINT or SIGTERM; one sentence when it gives up."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import structlog

from shared.errors import CitebusError, Unavailable

try:
    from uvloop import new_event_loop
except ImportError:  # not on Windows
    from asyncio import new_event_loop

_PR_SET_PDEATHSIG = 1

T = TypeVar("T")

_log = structlog.get_logger(__name__)

_AGAIN_S = 0.5
"""Pause between two looks for a server that is not there yet."""


def run_until_signal(work: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    """Run `work` and set its event at the first signal; exit with 1 and the reason when citebus gives up."""
    try:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(_stoppable(work))
    except* CitebusError as group:
        sys.exit(f"citebus: {_first(group)}")


async def patiently(what: str, work: Callable[[], Awaitable[T]]) -> T:
    """Do `work` once the server that it needs is there: at a start, servers may come later than services."""
    told = False
    while True:
        try:
            return await work()
        except Unavailable as error:
            if not told:
                _log.info("process.waiting", wants=what, error=str(error))
                told = True
            await asyncio.sleep(_AGAIN_S)


def end_with_parent(parent: int | None = None) -> None:
    """Let the system kill this process when the one that started it ends, however it ends (Linux only).

    `parent` is that one's id: when it has ended already, while this one was starting, this one ends at once.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)


async def _stoppable(work: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    await work(stop)


def _first(group: BaseException) -> BaseException:
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group
