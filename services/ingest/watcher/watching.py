"""Turns the kernel's file events into what to look at (pending.py).

Every time the kernel's watches are in place a sweep is asked for, so whatever happened before, or while they were
not, is seen: at the start, after an error, after the vault's folder came back. Events say only where to look, never
what happened: what the disk holds decides.

Debounce: watchfiles polls its set of changes every step and hands it over when it did not grow during one step. With
a step of half the quiet time, a lone change is handed over 10 to 20 ms after it happened.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable

import structlog
from watchfiles import awatch
from watchfiles._rust_notify import WatchfilesRustInternalError

from services.ingest.watcher.options import WatchOptions
from services.ingest.watcher.pending import Pending
from services.ingest.watcher.settings_file import SETTINGS_FILE

_log = structlog.get_logger(__name__)


class FolderWatch:
    """Watches one folder until cancelled. `root`: real path of the vault."""

    def __init__(self, root: str, pending: Pending, options: WatchOptions | None = None) -> None:
        self._root = root
        self._pending = pending
        self._options = options or WatchOptions()
        self._stop: _StopEvent | None = None

    async def run(self) -> None:
        """Watch, and watch again after every error; returns only by cancellation."""
        while True:
            pause_s = await self._watch()
            await asyncio.sleep(pause_s)

    def watch_anew(self) -> None:
        """Give up the kernel's watches and ask for new ones: the folder is another one now."""
        if self._stop is not None:
            self._stop.set()

    async def _watch(self) -> float:
        """Watch until it ends; return the seconds to wait before watching again."""
        stop = self._stop = _StopEvent(self._pending.touch_everything)
        failure: Exception | None = None
        try:
            await self._hand_over(stop)
        except* (OSError, WatchfilesRustInternalError) as group:  # awatch raises them in a group, or bare
            # No watches left, a name that is not UTF-8, a folder that went away.
            failure = group.exceptions[0]
            _log.warning(
                "watching failed", folder=self._root, armed=stop.armed, error=str(failure), hint=_hint(failure)
            )
        finally:
            stop.set()
        if failure is None:
            return 0.0
        if stop.armed or isinstance(failure, FileNotFoundError):
            return self._options.retry_s
        self._pending.touch_everything()
        return self._options.blind_s

    async def _hand_over(self, stop: _StopEvent) -> None:
        options = self._options
        events = awatch(
            self._root,
            watch_filter=None,
            debounce=options.longest_ms,
            step=max(1, options.quiet_ms // 2),
            stop_event=stop,
            force_polling=options.force_polling,
            ignore_permission_denied=True,
        )
        async for changes in events:
            paths = relative_paths(self._root, (path for _, path in changes))
            if "" in paths:
                self._pending.touch_everything()
            self._pending.touch(paths)
            if folders := await asyncio.to_thread(self._folders, paths):
                self._pending.touch_later(folders, options.second_look_s)

    def _folders(self, paths: Iterable[str]) -> list[str]:
        return [path for path in paths if os.path.isdir(f"{self._root}/{path}")]


def relative_paths(root: str, paths: Iterable[str]) -> set[str]:
    """Return paths relative to the root, without those that are hidden or below a hidden folder; the root is empty.

    The settings file is hidden and stays.
    """
    start = len(root.rstrip("/")) + 1
    relative = {path[start:] for path in paths}
    return {path for path in relative if path == SETTINGS_FILE or not f"/{path}".count("/.")}


def _hint(error: Exception) -> str:
    if "limit" in str(error):
        return "raise fs.inotify.max_user_watches; until then the vault is swept from time to time"
    return "the vault is swept when it is watched again"


class _StopEvent(asyncio.Event):
    """Ends awatch, and tells when the watches are in place: awatch asks for the first time just after that.

    It asks from a thread of its own.
    """

    def __init__(self, on_armed: Callable[[], None]) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._on_armed = on_armed
        self.armed = False

    def is_set(self) -> bool:
        if not self.armed:
            self.armed = True
            self._loop.call_soon_threadsafe(self._on_armed)
        return super().is_set()
