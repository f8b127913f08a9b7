"""A vault in a folder of its own, with a watcher on fakes, as the watcher's tests want it."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from services.ingest.watcher.manifest import Manifest
from services.ingest.watcher.options import WatcherOptions, WatchOptions
from services.ingest.watcher.settings_file import read_settings
from services.ingest.watcher.watcher import Ports, Watcher
from tests.fakes.in_memory_file_log import InMemoryFileLog, InMemoryVaultSettingsStore

QUICK = WatcherOptions(
    look_around_s=0.2,
    retry_first_s=0.02,
    retry_most_s=0.1,
    again_s=0.05,
    watch=WatchOptions(second_look_s=0.2, retry_s=0.1, blind_s=0.2),
)
"""Waits as short as a test wants them."""


@dataclass
class Vault:
    """A folder, its log and its watcher's state. `sync` is one start, one sweep and one stop of a watcher."""

    base: Path
    log: InMemoryFileLog = field(default_factory=InMemoryFileLog)
    store: InMemoryVaultSettingsStore = field(default_factory=InMemoryVaultSettingsStore)
    options: WatcherOptions = QUICK
    now_ns: int | None = None
    """What the watcher's clock says; None: the time of day."""

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)

    @property
    def root(self) -> Path:
        return self.base / "notes"

    @property
    def manifest_file(self) -> Path:
        return self.base / "state" / "notes.sqlite3"

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def move(self, old: str, new: str) -> None:
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / old).rename(self.root / new)

    def settle(self) -> None:
        """Make every file look as if it was written long ago, so that its stat can be trusted."""
        for file in self.root.rglob("*"):
            if file.is_file() and not file.is_symlink():
                os.utime(file, (1_700_000_000, 1_700_000_000))

    @contextmanager
    def watcher(self) -> Generator[Watcher]:
        with Manifest(self.manifest_file) as manifest:
            ports = Ports(self.log, self.store, lambda: time.time_ns() if self.now_ns is None else self.now_ns)
            yield Watcher(self.root, read_settings(self.root), manifest, ports, self.options)

    @asynccontextmanager
    async def watched(self) -> AsyncGenerator[Watcher]:
        """Run a watcher; it has swept once when this is entered."""
        with self.watcher() as watcher:
            await watcher.sync()
            running = asyncio.create_task(watcher.run())
            try:
                await self._armed(running)
                yield watcher
            finally:
                running.cancel()
                await asyncio.wait((running,))
        if not running.cancelled() and (error := running.exception()):
            raise error

    async def sync(self, *, full: bool = False) -> list[str]:
        """Sync, and return what was published as `change path`."""
        before = len(self.log.history)
        with self.watcher() as watcher:
            await watcher.sync(full=full)
        return [f"{change.change} {change.path}" for change in self.log.history[before:]]

    def pages(self) -> dict[str, UUID]:
        """Return the page of each file in the log."""
        return {path: change.page_id for path, change in self.log.files().items()}

    def texts(self) -> dict[str, str]:
        """Return the content of each file in the log."""
        return {path: (change.content or b"").decode() for path, change in self.log.files().items()}

    async def _armed(self, running: asyncio.Task[None]) -> None:
        """Wait until the kernel's events arrive: a probe is written until it is published."""
        probe = self.root / "zz-probe.md"
        for attempt in range(200):
            probe.write_text(str(attempt))
            try:
                await self.log.until(lambda log: "zz-probe.md" in log.files(), timeout_s=0.1)
            except TimeoutError:
                if running.done():
                    raise
                continue
            break
        probe.unlink()
        await self.log.until(lambda log: "zz-probe.md" in log.tombstones())


@contextmanager
def as_nobody() -> Generator[Path]:
    """Yield a folder, and be a user whom permissions bind: root may read everything."""
    with tempfile.TemporaryDirectory(prefix="citebus-", dir="/tmp") as folder:
        base = Path(folder)
        base.chmod(0o777)
        if os.geteuid() != 0:
            yield base
            return
        os.seteuid(65534)
        try:
            yield base
        finally:
            os.seteuid(0)
