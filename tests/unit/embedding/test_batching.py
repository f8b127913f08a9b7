from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.embedding.batching import gather_or_cancel, split_batches
from shared.errors import Unavailable


@given(texts=st.lists(st.text(max_size=30), max_size=60), max_texts=st.integers(1, 10), max_chars=st.integers(1, 60))
def test_batches_keep_the_order_and_both_limits(texts: list[str], max_texts: int, max_chars: int):
    batches = split_batches(texts, max_texts, max_chars)

    assert [text for batch in batches for text in batch] == texts
    for batch in batches:
        assert 1 <= len(batch) <= max_texts
        assert len(batch) == 1 or sum(map(len, batch)) <= max_chars


async def test_the_first_error_is_raised_bare_once_the_others_have_ended():
    ended = asyncio.Event()

    async def wait_for_ever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def fail() -> None:
        await asyncio.sleep(0)
        raise Unavailable("down")

    with pytest.raises(Unavailable, match="down"):
        await gather_or_cancel([wait_for_ever(), fail()])
    assert ended.is_set()
