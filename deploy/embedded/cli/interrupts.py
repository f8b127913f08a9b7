"""Ctrl-C as an event, for work that ends in its own way."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def interrupts() -> Generator[asyncio.Queue[None]]:
    """Yield a queue that gets an item for each Ctrl-C, which does nothing else meanwhile.

    A process that ignores SIGINT, as one in the background of a script does, goes on to ignore it.
    """
    pressed: asyncio.Queue[None] = asyncio.Queue()
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        yield pressed
        return
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, pressed.put_nowait, None)
    try:
        yield pressed
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
