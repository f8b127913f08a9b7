"""What every scenario gets: its size, a folder of its own, and a place to say under which circumstances it ran."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.figures import Figure
from tests.bench.machine import Meter, Surroundings, measure_floor
from tests.bench.product import HASHING, Product, running_product


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is worked on."""

    files: int = 1_000
    large_files: int = 20_000
    """Vault in which edits are measured a second time."""
    swept_files: int = 100_000
    waiting_files: int = 5_000
    burst_files: int = 200
    chunks: int = 50_000
    edits: int = 150
    renames: int = 30
    queries: int = 600

    def quick(self) -> Scale:
        """Return a size that tells whether the bench works, not how fast the product is."""
        return Scale(
            files=min(self.files, 200),
            large_files=400,
            swept_files=5_000,
            waiting_files=200,
            burst_files=50,
            chunks=min(self.chunks, 2_000),
            edits=20,
            renames=5,
            queries=60,
        )


@dataclass(slots=True)
class Run:
    """One scenario while it runs."""

    name: str
    scale: Scale
    folder: Path
    log: Callable[[str], None]
    surroundings: list[Surroundings] = field(default_factory=list[Surroundings])

    @asynccontextmanager
    async def product(self, environment: Mapping[str, str] = HASHING) -> AsyncGenerator[Product]:
        """Run the product; the machine is measured first and watched meanwhile."""
        self.log("starting the stack")
        async with running_product(self.folder, environment) as product:
            floor = await measure_floor(product.stack.nats_url, self.folder)
            meter = Meter(product.pid)
            yield product
            cores = os.cpu_count() or 1
            self.surroundings.append(Surroundings(self.name, floor, meter.load_average, cores, meter.others_cores()))


Measure = Callable[[Run], Awaitable[list[Figure]]]


@contextmanager
def scenario_folder(parent: Path | None) -> Generator[Path]:
    """Yield an empty folder, deleted at the end; Postgres, which as root is another user, may pass through it."""
    folder = Path(tempfile.mkdtemp(prefix="citebus-bench-", dir=parent))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
