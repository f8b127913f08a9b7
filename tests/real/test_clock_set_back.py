"""A clock that is set back, by a day and in the middle of the work, hides no change and undoes none."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from services.ingest.adapters.nats_file_log import NatsFileLog
from services.ingest.adapters.nats_vault_catalogue import NatsVaultCatalogue
from services.ingest.watcher.manifest import Manifest
from services.ingest.watcher.options import WatcherOptions
from services.ingest.watcher.settings_file import read_settings
from services.ingest.watcher.watcher import Ports, Watcher
from shared.topology import Topology
from tests.real.outages import eventually, note
from tests.system import System, running_system

DAY_NS = 86_400 * 10**9


@dataclass
class Clock:
    """The time, and how far it was set back."""

    back_ns: int = 0

    def now_ns(self) -> int:
        return time.time_ns() - self.back_ns

    def save(self, file: Path, text: str) -> None:
        """Save a file with the time that this clock shows."""
        beside = file.with_suffix(".tmp")
        beside.write_text(text)
        os.utime(beside, ns=(self.now_ns(), self.now_ns()))
        beside.replace(file)


@asynccontextmanager
async def watched(system: System, folder: Path, clock: Clock) -> AsyncGenerator[Watcher]:
    """Watch the system's vault by this clock."""
    client, settings = system.resources.client, read_settings(system.vault)
    log, catalogue = NatsFileLog(client, system.topology), NatsVaultCatalogue(client, system.topology)
    with Manifest(folder / "manifest.sqlite3") as manifest:
        watcher = Watcher(system.vault, settings, manifest, Ports(log, catalogue, clock.now_ns), WatcherOptions())
        running = asyncio.create_task(watcher.run())
        try:
            yield watcher
        finally:
            running.cancel()
            await asyncio.wait({running})


async def test_what_is_saved_moved_and_removed_after_the_clock_went_back_is_seen(
    nats_url: str, topology: Topology, database: str, tmp_path: Path
) -> None:
    clock = Clock()
    async with running_system(nats_url, topology, database, tmp_path, watch=False) as system:
        async with watched(system, tmp_path, clock):
            for n in range(3):
                clock.save(system.vault / f"n{n}.md", note(n))
                await system.wait(f"n{n}.md", until="embedded")
            ids, embedded = await system.paths(), system.embedder.document_texts
            clock.back_ns = DAY_NS
            clock.save(system.vault / "n0.md", note(7))
            await system.wait("n0.md", until="embedded")
            (system.vault / "n1.md").rename(system.vault / "moved.md")
            await system.wait("moved.md", until="embedded")
            (system.vault / "n2.md").unlink()
            await pages(system, 2)
        clock.back_ns = 2 * DAY_NS
        clock.save(system.vault / "n0.md", note(8))
        async with watched(system, tmp_path, clock) as watcher:
            await watcher.sync()
            await system.wait("n0.md", until="embedded")
        assert await system.paths() == {"n0.md": ids["n0.md"], "moved.md": ids["n1.md"]}
        assert system.embedder.document_texts == embedded + 2
        assert (await system.search("m8x")).citations[0].path == "n0.md"


async def pages(system: System, count: int) -> None:
    """Wait until so many pages are live."""

    async def reached() -> bool:
        return (await system.status()).pages == count

    await eventually(reached)
