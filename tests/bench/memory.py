"""Memory of a family of processes: the sum of their proportional set sizes, from the kernel.

Pages that several processes share (Postgres' buffers, libraries) are counted once in the sum.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

SAMPLE_S = 0.5
"""A sample takes 16 ms of a core: at 0.1 s it would slow down by a tenth what is measured beside it."""

MIB = 2**20


@dataclass(slots=True)
class Memory:
    """What was seen so far."""

    peak_mib: float = 0.0
    samples: int = 0

    def look(self, pid: int) -> None:
        """Take one sample."""
        self.peak_mib = max(self.peak_mib, family_pss_bytes(pid) / MIB)
        self.samples += 1


def family(pid: int) -> list[psutil.Process]:
    """Return a process and all below it; none when it is gone."""
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def family_pss_bytes(pid: int) -> int:
    """Return the sum over the family; a process that ends meanwhile counts nothing."""
    return sum(_pss_bytes(process.pid) for process in family(pid))


def family_cpu_s(pid: int) -> float:
    """Return the processor time that the living of the family have used."""
    total_s = 0.0
    for process in family(pid):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total_s += times.user + times.system
    return total_s


@contextmanager
def sampled_memory(pid: int) -> Generator[Memory]:
    """Sample every SAMPLE_S, in a thread, until the block ends."""
    memory, over = Memory(), threading.Event()

    def sample() -> None:
        while not over.wait(SAMPLE_S):
            memory.look(pid)

    thread = threading.Thread(target=sample, name="memory", daemon=True)
    thread.start()
    try:
        yield memory
    finally:
        over.set()
        thread.join()
        memory.look(pid)


def _pss_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
