"""Cancellation that holds: a loop that runs as long as its service ends when it is told to, whatever it calls."""

from __future__ import annotations

import asyncio


def end_if_cancelled() -> None:
    """Raise CancelledError when this task was cancelled and goes on all the same.

    Before Python 3.12, `asyncio.wait_for` swallows a cancellation that comes as its future is done (bpo-37658), and
    nats-py waits with it: a task cancelled in that moment would go on for ever, and a shutdown wait for it as long.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
