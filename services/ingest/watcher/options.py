"""How a vault is watched: limits and waits, with their defaults. Read by the watcher; changes need a restart."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """How events are gathered."""

    quiet_ms: int = 20
    """A change is handed over at most so long after the last one."""
    longest_ms: int = 500
    """And at most so long after the first one, however many follow."""
    second_look_s: float = 1.0
    """A new folder is looked at again after this: its files may be older than the kernel's watch on it."""
    retry_s: float = 1.0
    """Pause before watching again after an error; what was missed is swept up then."""
    blind_s: float = 30.0
    """Pause between sweeps while the kernel gives no watches."""
    force_polling: bool | None = None
    """Compare instead of asking the kernel, for network file systems; null: as watchfiles finds best."""


@dataclass(frozen=True, slots=True)
class WatcherOptions:
    """How a vault is watched."""

    max_bytes: int = 5_000_000
    """A larger file is unreadable; also bounded by what fits into a message."""
    sweep_every_s: float = 3600.0
    look_around_s: float = 5.0
    """How often it is asked whether the folder and the log are still the same ones."""
    retry_first_s: float = 0.1
    retry_most_s: float = 10.0
    """Waits between tries while something can't be reached: doubled from the first to the most."""
    again_s: float = 0.2
    """A file that kept changing while it was read is read again after this."""
    rejoin_s: float = 60.0
    """A new file with the content of a page that was removed so recently is that page."""
    removed_kept_s: float = 30 * 86_400.0
    """A removed page whose file comes back within this has its id again; as long as the log keeps tombstones."""
    watch: WatchOptions = field(default_factory=WatchOptions)
