"""Small programs that stand in for servers."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from deploy.embedded.processes import Launch
from shared.errors import Unavailable

RUNS = "import time; print('ready', flush=True); time.sleep(60)"
IGNORES_SIGTERM = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {RUNS}"
FAILS = "import sys; print('out of luck'); sys.exit(3)"


def launch_of(code: str, folder: Path) -> Launch:
    """Return how to run some Python; its output goes to `<folder>/log`."""
    return Launch(argv=(sys.executable, "-I", "-S", "-c", code), folder=folder, log=folder / "log")


class ScriptedServer:
    """Runs one program after another, the last one again and again; answers when a program has printed `ready`."""

    name = "scripted"

    def __init__(self, folder: Path, *programs: str) -> None:
        self._folder = folder
        self._programs = list(programs)
        self._log = folder / "log"
        self.starts: list[bool] = []
        self.asked = asyncio.Event()

    async def prepare(self, *, restart: bool) -> Launch:
        self.starts.append(restart)
        self._log.unlink(missing_ok=True)
        program = self._programs.pop(0) if len(self._programs) > 1 else self._programs[0]
        return launch_of(program, self._folder)

    async def check(self) -> None:
        self.asked.set()
        if not self._log.exists() or "ready" not in self._log.read_text():
            raise Unavailable("not ready")
