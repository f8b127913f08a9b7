"""What the kernel, a request or a failed try asks the watcher to look at; bounded, and merged until it is taken."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

_MOST_PATHS = 4096
"""Above so many paths one sweep is cheaper than a check of each. It also makes good what the kernel lost: its queue
[16,384 events on Linux] overflows only in a burst of this kind, and watchfiles does not tell when it did."""


@dataclass(frozen=True, slots=True)
class Touched:
    """What to look at: everything, or these disk paths relative to the vault."""

    everything: bool = False
    paths: frozenset[str] = field(default_factory=frozenset[str])

    def __bool__(self) -> bool:
        return self.everything or bool(self.paths)


class Pending:
    """Collects what is touched. For one event loop; never blocks who adds."""

    def __init__(self, most_paths: int = _MOST_PATHS) -> None:
        self._most_paths = most_paths
        self._everything = False
        self._paths: set[str] = set()
        self._there = asyncio.Event()

    def __bool__(self) -> bool:
        return self._there.is_set()

    def touch(self, disk_paths: Iterable[str]) -> None:
        """Ask for a look at these disk paths."""
        if not self._everything:
            self._paths.update(disk_paths)
        if len(self._paths) > self._most_paths:
            self.touch_everything()
        elif self._paths:
            self._there.set()

    def touch_everything(self) -> None:
        """Ask for a sweep."""
        self._everything = True
        self._paths.clear()
        self._there.set()

    def touch_later(self, disk_paths: Iterable[str], delay_s: float) -> None:
        """Ask for a look at these disk paths after `delay_s`."""
        asyncio.get_running_loop().call_later(delay_s, self.touch, frozenset(disk_paths))

    async def wait(self, timeout_s: float) -> bool:
        """Wait until something is there; False after `timeout_s`."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._there.wait()
        except TimeoutError:
            return False
        return True

    def take_paths(self) -> Touched:
        """Return the paths that are there and forget them, unless everything is asked for: that stays."""
        return Touched() if self._everything else self.take()

    def take(self) -> Touched:
        """Return what is there and forget it."""
        taken = Touched(self._everything, frozenset(self._paths))
        self._everything = False
        self._paths = set()
        self._there.clear()
        return taken
