"""A full disk, under each store in turn: said clearly, nothing lost, and all goes on when there is space again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from shared.topology import Topology
from shared.vectors.edge import EdgeOptions, QdrantEdgeStore
from tests.real.disks import filled, small_disk
from tests.real.outages import all_is_well, machine, note, system_on, until
from tests.system import Refused, System, running_system

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("wheels"), pytest.mark.timeout(120)]


def write(system: System, *numbers: int) -> None:
    """Save notes without waiting for anything."""
    for n in numbers:
        (system.vault / f"n{n}.md").write_text(note(n))


async def test_without_space_for_vectors_search_goes_on_and_edits_wait(
    nats_url: str, topology: Topology, database: str, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk", 400) as disk:
        store = await QdrantEdgeStore.open(disk / "vectors", EdgeOptions(min_free_bytes=64 * 2**20))
        try:
            async with running_system(nats_url, topology, database, tmp_path, store=store) as system:
                write(system, *range(3))
                await system.settled(lambda status: status.pages == 3)
                with filled(disk, leave_mb=32):
                    write(system, *range(3, 6))
                    await system.sync()
                    await asyncio.sleep(1.0)
                    assert (await system.status()).pages == 3
                    assert (await system.search("m1x")).citations[0].path == "n1.md"
                await all_is_well(system, 6)
        finally:
            await store.aclose()


async def test_postgres_without_space_loses_nothing_and_goes_on_when_there_is_some(data_dir: Path) -> None:
    with small_disk(data_dir / "postgres", 400) as disk:
        async with machine(data_dir) as one, system_on(one) as system:
            write(system, *range(3))
            await system.settled(lambda status: status.pages == 3)
            with filled(disk):
                write(system, *range(3, 300))
                await system.sync()
                await until(lambda: "No space left" in one.log("postgres"))
                assert (await system.search("m1x")).citations[0].path == "n1.md"
            await all_is_well(system, 300)


async def test_nats_without_space_says_so_and_goes_on_when_there_is_some_and_it_was_restarted(data_dir: Path) -> None:
    with small_disk(data_dir / "nats", 400) as disk:
        async with machine(data_dir) as one, system_on(one) as system:
            write(system, *range(3))
            await system.settled(lambda status: status.pages == 3)
            with filled(disk):
                write(system, *range(3, 100))
                with pytest.raises(Refused, match="disk is full: then free some space and restart it"):
                    await system.sync()
                assert (await system.search("m1x")).citations[0].path == "n1.md"
            one.kill("nats")
            await until(lambda: not system.resources.client.is_connected)
            await all_is_well(system, 100)
