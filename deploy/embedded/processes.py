"""Children of this process: start one, see it end, stop it, and find those that an earlier run left behind.

A child has a session of its own, so that Ctrl-C at the terminal reaches only its parent, which then stops its
children in order; on Linux it is told when its parent dies (launcher). Its output goes to a file of bounded size, not
to a pipe, so that it can still write while it shuts down after the death of its parent.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import psutil

from deploy.embedded.system_user import SystemUser

LAUNCHER = Path(__file__).with_name("launcher.py")

MAX_LOG_BYTES = 4_000_000
"""A log that has grown beyond is moved to `<name>.1`, so two of these per server at most, and what one check misses."""

TAIL_BYTES = 8_192
"""How much of a log's end is read for the last lines."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How to run a program."""

    argv: tuple[str, ...]
    """Absolute path of the program, then its arguments. No secrets: other users can see them."""
    folder: Path
    """Working directory."""
    log: Path
    """Where its output is appended."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """The whole environment."""
    user: SystemUser | None = None
    """Who to be; None: who we are."""
    stop_signal: signal.Signals = signal.SIGTERM
    """Asks for an orderly end; also sent when the parent dies."""


class Child:
    """One run of a program."""

    def __init__(self, launch: Launch, process: asyncio.subprocess.Process) -> None:
        self.launch = launch
        self._process = process
        self._exit = asyncio.create_task(process.wait())
        self._begun_s = time.monotonic()
        self._ended_s: float | None = None
        self._exit.add_done_callback(self._note_end)

    @classmethod
    async def spawn(cls, launch: Launch) -> Child:
        """Start the program; it lives no longer than the calling thread, so call from one that stays."""
        bound_log(launch.log)
        with _append_to(launch.log) as log:
            process = await asyncio.create_subprocess_exec(
                *_launcher_arguments(launch),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=launch.folder,
                env=dict(launch.environment),
                start_new_session=True,
            )
        return cls(launch, process)

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return not self._exit.done()

    async def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for its end; return whether it has ended, False when `timeout_s` was over first."""
        await asyncio.wait({self._exit}, timeout=timeout_s)
        return self._exit.done()

    async def stop(self, grace_s: float) -> None:
        """Ask it to end and wait; kill it when it has not ended after `grace_s` seconds."""
        self._signal(self.launch.stop_signal)
        if not await self.wait(grace_s):
            self._signal(signal.SIGKILL)
            await self.wait()

    def age_s(self) -> float:
        """Return how long it has run, or did run, in seconds."""
        return (self._ended_s or time.monotonic()) - self._begun_s

    def how_it_ended(self) -> str:
        """Return `exit code 1` or `signal SIGKILL`; `still running` if it is."""
        if self.running:
            return "still running"
        code = self._exit.result()
        return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"

    def _note_end(self, exit_code: asyncio.Task[int]) -> None:
        del exit_code
        self._ended_s = time.monotonic()

    def _signal(self, number: signal.Signals) -> None:
        if self.running:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)


def _append_to(log: Path) -> BinaryIO:
    return log.open("ab")


def _launcher_arguments(launch: Launch) -> list[str]:
    identity = ("-", "-") if launch.user is None else (str(launch.user.uid), str(launch.user.gid))
    bond = (str(os.getpid()), str(int(launch.stop_signal)))
    return [sys.executable, "-I", "-S", str(LAUNCHER), *bond, *identity, *launch.argv]


def bound_log(log: Path) -> None:
    """Move the content of a log that is too long aside, in place: its writer appends, and goes on at the start."""
    with suppress(FileNotFoundError):
        if log.stat().st_size > MAX_LOG_BYTES:
            log.with_name(f"{log.name}.1").write_bytes(log.read_bytes()[-MAX_LOG_BYTES:])
            with log.open("r+b") as file:
                file.truncate(0)


def last_lines(log: Path, count: int = 10) -> str:
    """Return the last lines of a log, or a word that there are none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - TAIL_BYTES))
            lines = file.read().decode(errors="replace").splitlines()
    except FileNotFoundError:
        lines = []
    return "\n".join(lines[-count:]) or "(nothing logged)"


def start_mark(pid: int) -> str | None:
    """Return what tells the process `pid` from a later one with the same id; None when there is none.

    On Linux it is the clock tick since boot at which the process began, which a change of the clock does not move.
    """
    try:
        if sys.platform == "linux":
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        return str(psutil.Process(pid).create_time())
    except (FileNotFoundError, ProcessLookupError, psutil.NoSuchProcess):
        return None


def processes_in(folder: Path, program: str) -> list[psutil.Process]:
    """Return the processes called `program` whose working directory is `folder`, which is how a server is ours."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter(["name"]):
        with suppress(psutil.Error, OSError):
            if process.name() == program and Path(process.cwd()) == folder.resolve():
                found.append(process)
    return found


def stop_leftovers(folder: Path, program: str, stop_signal: signal.Signals, grace_s: float) -> int:
    """Stop what an earlier run left running in `folder`, and return how many processes that were. Blocks.

    Parents are asked first, so that a server ends its own helpers; what is left after `grace_s` seconds is killed.
    """
    found = processes_in(folder, program)
    pids = {process.pid for process in found}
    for process in found:
        with suppress(psutil.NoSuchProcess):
            if process.ppid() not in pids:
                process.send_signal(stop_signal)
    _, alive = psutil.wait_procs(found, timeout=grace_s)
    for process in alive:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(alive, timeout=grace_s)
    return len(found)
