from __future__ import annotations

import time

import pytest

from shared.errors import DeadlineExceeded
from tests.unit.retrieval.scene import Scene, page, scene, titles


async def garden() -> Scene:
    return await scene(page("wiki/rose.md", "roses are red", links=("wiki/pond.md",)), page("wiki/pond.md", "water"))


async def test_an_embedder_that_hangs_leaves_time_to_search_by_words() -> None:
    scenery = await garden()
    scenery.embedder.hangs = True

    reply = await scenery.search("roses", deadline_ms=100)

    assert titles(reply) == ["rose", "pond"]
    assert reply.degraded == "Searched by words only: Embedding the query took more than 50 ms."
    assert not reply.truncated
    assert reply.timings_ms.embed >= 45


@pytest.mark.parametrize("read", ["snapshot", "store"])
async def test_when_time_is_over_in_the_first_phase_the_reply_is_empty_and_says_so(read: str) -> None:
    scenery = await garden()
    scenery.pages.hanging.add(read)
    scenery.watched.hangs_from = 0 if read == "store" else None

    started = time.perf_counter()
    reply = await scenery.search("roses", deadline_ms=50)

    assert reply.truncated
    assert reply.citations == ()
    assert time.perf_counter() - started < 5, "the deadline, not the hanging read, ends the search"


@pytest.mark.parametrize("read", ["neighbours", "openings", "store"])
async def test_when_time_is_over_in_the_second_phase_the_reply_holds_the_first(read: str) -> None:
    scenery = await garden()
    scenery.pages.hanging.add(read)
    scenery.watched.hangs_from = 1 if read == "store" else None

    reply = await scenery.search("roses", profile="sparse", deadline_ms=50)

    assert reply.truncated
    assert titles(reply) == ["rose"]
    assert reply.timings_ms.expansion > 0


async def test_when_not_even_the_vault_can_be_read_in_time_the_deadline_is_the_error() -> None:
    scenery = await garden()
    scenery.pages.hanging.add("vault")

    with pytest.raises(DeadlineExceeded, match="within 20 ms"):
        await scenery.search("roses", deadline_ms=20)
