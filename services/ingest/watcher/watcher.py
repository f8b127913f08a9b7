"""The watcher: keeps the log of files (stream FILES) equal to the vault's folder.

Reads the folder, `.citebus.toml` in it, and its manifest; publishes FileChanged through the FileLog port and the
vault's settings through the VaultSettingsStore port. Guarantees: what is on the disk is in the log soon after it
changed, or after the next sweep [hourly] if the kernel kept silent; a log that can't be reached, a crash, or a vault
that is not mounted loses nothing and removes nothing; one edit costs the same whatever the size of the vault.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import structlog

from services.ingest.watcher.files import path_of
from services.ingest.watcher.manifest import Manifest
from services.ingest.watcher.options import WatcherOptions
from services.ingest.watcher.pending import Pending, Touched
from services.ingest.watcher.planning import plan_survey
from services.ingest.watcher.ports import FileLog, VaultSettingsStore
from services.ingest.watcher.publishing import Outcome, Publisher
from services.ingest.watcher.rebuilding import follow_log
from services.ingest.watcher.selection import Selection
from services.ingest.watcher.settings_file import SETTINGS_FILE, read_settings
from services.ingest.watcher.slices import Place
from services.ingest.watcher.survey import Survey, Surveyor
from services.ingest.watcher.watching import FolderWatch
from shared.cancelling import end_if_cancelled
from shared.contracts.files import VaultSettings
from shared.contracts.ingest import SyncReply
from shared.errors import InvalidInput, Unavailable

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Ports:
    """What the watcher needs of the world."""

    file_log: FileLog
    settings_store: VaultSettingsStore
    clock_ns: Callable[[], int] = time.time_ns


async def _nothing() -> None:
    """Do nothing between two slices."""


class Watcher:
    """Watches one vault. `run` and `sync` may be called at once; they take turns."""

    def __init__(
        self, root: Path, settings: VaultSettings, manifest: Manifest, ports: Ports, options: WatcherOptions
    ) -> None:
        """`settings`: what `read_settings(root)` returned; `manifest` is used by nobody else."""
        self.settings = settings
        self.problem: str | None = None
        """What is wrong now, for people; None when all is well."""
        self.root = str(root.resolve())
        self._manifest = manifest
        self._ports = ports
        self._options = options
        self._publisher = Publisher(manifest, ports.file_log, ports.clock_ns)
        self._pending = Pending()
        self._turn = asyncio.Lock()
        self._surveyor: Surveyor | None = None
        self._settings_stored = False
        self._swept_at = -float("inf")

    async def run(self) -> None:
        """Watch until cancelled. Whatever can't be reached is tried again; only a bug ends it otherwise."""
        watch = FolderWatch(self.root, self._pending, self._options.watch)
        async with asyncio.TaskGroup() as group:
            group.create_task(watch.run())
            group.create_task(self._work(watch))

    def touch(self, disk_paths: Iterable[str]) -> None:
        """Have the running watcher look at these paths of the vault, whether or not the kernel tells of them."""
        self._pending.touch(disk_paths)

    async def publish(self, disk_path: str) -> UUID | None:
        """Publish what is at one path, now; return its page's id, None when it is no page. Raises Unavailable."""
        self.touch((disk_path,))  # for the sweep that may be under way
        async with self._turn:
            await self._look_at(Touched(paths=frozenset((disk_path,))))
        row = self._manifest.get(path_of(disk_path))
        return row.page_id if row and row.change == "present" else None

    def check_folder(self) -> None:
        """Raise Unavailable unless the vault's folder was swept and is still the same one."""
        if self._surveyor is None:
            raise Unavailable(f"the vault's folder {self.root} was not swept yet; try again", retry_after_s=1.0)
        self._surveyor.check_root()

    async def sync(self, *, full: bool = False) -> SyncReply:
        """Sweep now and publish all that changed; `full` hashes every file and compares with the log itself.

        Returns once all is stored in the log. Raises Unavailable when the folder or the log can't be reached: what
        was published until then stays, and the next sweep goes on.
        """
        started = time.perf_counter()
        async with self._turn:
            await self._prepare(full=full)
            survey, outcome = await self._sweep(full=full)
        return SyncReply(
            files=survey.files,
            published=outcome.published,
            moved=outcome.moved,
            removed=outcome.removed,
            unreadable=outcome.unreadable,
            skipped=survey.skipped,
            last_sequence=outcome.last_sequence,
            duration_ms=(time.perf_counter() - started) * 1000,
        )

    async def _work(self, watch: FolderWatch) -> None:
        wait_s = self._options.retry_first_s
        while True:
            end_if_cancelled()
            touched = await self._next()
            try:
                async with self._turn:
                    await self._look_at(touched)
                wait_s, self.problem = self._options.retry_first_s, None
            except Unavailable as error:
                self._give_back(touched, error)
                if self._surveyor is None:
                    watch.watch_anew()
                await asyncio.sleep(wait_s)
                wait_s = min(2 * wait_s, self._options.retry_most_s)

    async def _next(self) -> Touched:
        """Return what to look at next; nothing, when it is time to look around."""
        if await self._pending.wait(self._options.look_around_s):
            return self._pending.take()
        if time.monotonic() - self._swept_at >= self._options.sweep_every_s:
            return Touched(everything=True)
        return Touched()

    def _give_back(self, touched: Touched, error: Unavailable) -> None:
        """Remember what was not done, to be read anew at the next try."""
        if self.problem is None:
            _log.warning("the watcher can't go on", vault=self.settings.vault_id, why=str(error))
        self.problem = str(error)
        if touched.everything or not touched:
            self._pending.touch_everything()
        self._pending.touch(touched.paths)

    async def _look_at(self, touched: Touched) -> None:
        everything = touched.everything or self._surveyor is None
        if SETTINGS_FILE in touched.paths:
            everything |= self._read_settings()
        if everything or not touched or self.problem is not None:
            everything |= await self._prepare(full=False)
        if everything:
            await self._sweep(full=False)
        elif touched:
            await self._check(touched)

    async def _prepare(self, *, full: bool) -> bool:
        """Make sure that folder, manifest and log belong together; say whether a sweep must follow."""
        if not self._settings_stored:
            await self._ports.settings_store.put(self.settings)
            self._settings_stored = True
        if self._surveyor is not None:
            try:
                self._surveyor.check_root()
            except Unavailable:
                self._surveyor = None
                raise
        log, vault_id = self._ports.file_log, self.settings.vault_id
        return await follow_log(self._manifest, log, vault_id, self._now_s(), rebuild=full)

    def _read_settings(self) -> bool:
        """Read the settings file; say whether the settings are others now. A broken file changes nothing."""
        try:
            settings = read_settings(Path(self.root))
            Selection(settings)
        except InvalidInput as error:
            _log.error("the vault's settings are wrong; the last good ones stay", why=str(error))
            return False
        if settings.vault_id != self.settings.vault_id:
            _log.error("a vault's id can't change while it is watched; restart the watcher", wanted=settings.vault_id)
            return False
        changed = settings != self.settings
        if changed:
            self.settings, self._surveyor, self._settings_stored = settings, None, False
        return changed

    async def _sweep(self, *, full: bool) -> tuple[Survey, Outcome]:
        surveyor = self._surveyor or await asyncio.to_thread(self._new_surveyor)
        self._surveyor = surveyor
        survey = await asyncio.to_thread(surveyor.everything, self._rejoin_since_s(), doubt=full)
        for path in survey.blind:
            _log.warning(
                "a folder can't be looked at; its pages stay as they are", vault=self.settings.vault_id, path=path
            )
        outcome = await self._publish(survey, surveyor, self._urgent)
        self._manifest.forget_removed(self._now_s() - self._options.removed_kept_s)
        self._swept_at = time.monotonic()
        _log.info("swept", vault=self.settings.vault_id, files=survey.files, published=outcome.published)
        return survey, outcome

    async def _check(self, touched: Touched) -> None:
        assert self._surveyor is not None
        survey = await asyncio.to_thread(self._surveyor.touched, touched.paths, self._rejoin_since_s())
        await self._publish(survey, self._surveyor)

    async def _publish(
        self, survey: Survey, surveyor: Surveyor, between: Callable[[], Awaitable[None]] = _nothing
    ) -> Outcome:
        place = Place(self.settings.vault_id, self.root, self.max_bytes, surveyor.is_there)
        steps = await plan_survey(place, survey, self._manifest, self._ports.file_log)
        outcome = await self._publisher.publish(place, steps, between)
        if outcome.again:
            self._pending.touch_later(outcome.again, self._options.again_s)
        return outcome

    async def _urgent(self) -> None:
        """Publish the edits that came in while a sweep publishes many files."""
        touched = self._pending.take_paths()
        if SETTINGS_FILE in touched.paths:
            self._pending.touch(touched.paths)  # takes a sweep of its own
        elif touched:
            try:
                await self._check(touched)
            except Unavailable:
                self._pending.touch(touched.paths)
                raise

    def _new_surveyor(self) -> Surveyor:
        return Surveyor(self.root, Selection(self.settings), self._manifest, self.max_bytes)

    @property
    def max_bytes(self) -> int:
        """Largest file that is published."""
        return min(self._options.max_bytes, self._ports.file_log.max_content_bytes)

    def _now_s(self) -> float:
        return self._ports.clock_ns() / 1e9

    def _rejoin_since_s(self) -> float:
        return self._now_s() - self._options.rejoin_s
