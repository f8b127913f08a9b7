"""Many texts in few requests, and many requests at once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import TypeVar

T = TypeVar("T")


def split_batches(texts: list[str], max_texts: int, max_chars: int) -> list[list[str]]:
    """Return the texts in order, in batches within both limits; a text that is beyond `max_chars` is a batch alone."""
    batches: list[list[str]] = []
    chars = 0
    for text in texts:
        if not batches or len(batches[-1]) >= max_texts or chars + len(text) > max_chars:
            batches.append([])
            chars = 0
        batches[-1].append(text)
        chars += len(text)
    return batches


async def gather_or_cancel(coroutines: Iterable[Coroutine[object, object, T]]) -> list[T]:
    """Return all results in order. The first error is raised as it is, once the others are cancelled and have ended."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
