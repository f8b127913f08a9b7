"""The machine's own speed, measured beside the product: what no product on it can beat, and who else used it."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass
from pathlib import Path

import nats.errors
import psutil
from nats.aio.msg import Msg

from shared.bus import open_bus
from tests.bench.figures import BenchFailed, percentile
from tests.bench.memory import family_cpu_s

_ROUNDS = 1_000
_SYNCS = 50
_PYTHON_STEPS = 300_000


@dataclass(frozen=True, slots=True)
class Floor:
    """Speed of the bare machine."""

    python_mops: float
    """Million steps of a Python loop a second, on one core."""
    fsync_p50_ms: float
    """Appending 4 KB to a file and forcing them to the disk."""
    nats_p50_ms: float
    """Request and reply over the stack's own NATS server, with nothing between."""
    nats_p99_ms: float


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Under which circumstances a scenario ran."""

    scenario: str
    floor: Floor
    load_average: float
    """Processes that wanted a core in the last minute, when it began."""
    cores: int
    others_cores: float
    """Cores that processes that are neither the product nor the bench kept busy; above 0.2 mistrust the times."""


async def measure_floor(nats_url: str, folder: Path) -> Floor:
    """Measure; a second or so."""
    rounds_ms = await _nats_rounds_ms(nats_url)
    syncs_ms = await asyncio.to_thread(_syncs_ms, folder)
    python = await asyncio.to_thread(_python_mops)
    return Floor(python, percentile(syncs_ms, 50), percentile(rounds_ms, 50), percentile(rounds_ms, 99))


class Meter:
    """Watches who uses the processors, from when it is made."""

    def __init__(self, product_pid: int) -> None:
        """`product_pid`: the process whose family is the product."""
        self.load_average = os.getloadavg()[0]
        self._pid = product_pid
        self._began = time.perf_counter()
        self._busy_s, self._own_s = _busy_s(), self._ours_s()

    def others_cores(self) -> float:
        """Return how many cores others have kept busy on average."""
        ours = self._ours_s() - self._own_s
        return max(0.0, (_busy_s() - self._busy_s - ours) / (time.perf_counter() - self._began))

    def _ours_s(self) -> float:
        return family_cpu_s(self._pid) + time.process_time()


async def _nats_rounds_ms(nats_url: str) -> list[float]:
    async with open_bus(nats_url, name="bench-echo") as echo, open_bus(nats_url, name="bench-ask") as asker:

        async def answer(message: Msg) -> None:
            await message.respond(message.data)

        await echo.subscribe("bench.echo", cb=answer)
        await echo.flush()
        times_ms: list[float] = []
        for number in range(_ROUNDS):
            started = time.perf_counter()
            try:
                await asker.request("bench.echo", b"?", timeout=10)
            except nats.errors.NoRespondersError as error:
                raise BenchFailed(f"request {number} on a bare connection found nobody") from error
            times_ms.append((time.perf_counter() - started) * 1000)
        return times_ms


def _syncs_ms(folder: Path) -> list[float]:
    path, times_ms = folder / "sync.probe", list[float]()
    with path.open("wb", buffering=0) as file:
        for _ in range(_SYNCS):
            started = time.perf_counter()
            file.write(bytes(4096))
            os.fsync(file.fileno())
            times_ms.append((time.perf_counter() - started) * 1000)
    path.unlink()
    return times_ms


def _python_mops() -> float:
    best_s = float("inf")
    for _ in range(5):
        started, total = time.perf_counter(), 0
        for step in range(_PYTHON_STEPS):
            total += step & 7
        best_s = min(best_s, time.perf_counter() - started)
    return _PYTHON_STEPS / best_s / 1e6


def _busy_s() -> float:
    times = psutil.cpu_times()
    return sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0)
