"""Whatever lies in a vault is found and cited exactly where it stands, or rejected with a reason; the rest is untouched."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from tests.real.odd_files import WHOLE_WINDOW, Odd, encodings, front_matters, names, shapes
from tests.system import System

JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(range(256)) * 20


@asynccontextmanager
async def witnesses(system: System) -> AsyncGenerator[None]:
    """Have some plain pages in the vault, which nothing in the block may touch."""
    for n in range(4):
        (system.vault / f"plain {n}.md").write_text(f"# Plain {n}\n\nA page of no interest, number {n}.\n")
    await system.settled(lambda status: status.pages == 4)
    before = await plain_rows(system)
    yield
    assert await plain_rows(system) == before
    assert (await system.search("page of no interest number 2")).citations[0].path == "plain 2.md"
    assert await dead_letters(system) == 0


async def plain_rows(system: System) -> list[tuple[object, ...]]:
    """Return all that is live of the plain pages."""
    rows = await system.rows(
        "SELECT p.path, p.revision, page_id::text, chunk_id::text, point_hash, embedded_in FROM pages p"
        " JOIN chunks USING (page_id) WHERE p.path LIKE 'plain %' ORDER BY 1"
    )
    return [tuple(row) for row in rows]


async def dead_letters(system: System) -> int:
    """Return how many messages were put aside."""
    info = await system.resources.client.jetstream().stream_info(system.topology.dead)
    return info.state.messages


async def troubles(system: System, files: list[Odd]) -> dict[str, str]:
    """Save files at once, wait until all is embedded, and search for each; return what is wrong by path."""
    before = (await system.status()).pages
    for odd in files:
        place = system.vault / odd.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(odd.content)
    await system.settled(lambda status: status.pages + status.rejected_count >= before + len(files))
    found = {odd.path: odd.trouble_with(await search(system, odd.quote)) for odd in files}
    return {path: trouble for path, trouble in found.items() if trouble is not None}


async def search(system: System, query: str):  # noqa: ANN201
    """Search with room for everything and all the time that a loaded machine may need."""
    return await system.search(query, k=50, context_window=WHOLE_WINDOW, deadline_ms=20_000, expansion_depth=0)


@pytest.mark.parametrize("files", [encodings, front_matters, shapes, names], ids=lambda make: make.__name__)
async def test_odd_files_are_cited_exactly(system: System, files: object) -> None:
    async with witnesses(system):
        assert await troubles(system, files()) == {}  # type: ignore[operator]
        assert (await system.status()).rejected == ()
