"""A user's machine: a data folder, vaults, and the `citebus` command as a process of its own.

Nothing is taken from this process but the interpreter: what is tried here is what somebody gets who installed citebus.
"""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from deploy.embedded.cli.demo import SAMPLE_VAULT
from deploy.embedded.state import RunningStack, read_running_stack

CITEBUS = Path(sys.executable).with_name("citebus")

COMMAND_S = 90.0
"""Longest command that ends by itself: it starts two servers, perhaps while other tests use both cores."""

STOP_S = 30.0
"""Longest orderly stop."""

_TAKE_THE_TERMINAL = (
    "import fcntl, os, signal, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
)
"""Makes standard input the terminal whose Ctrl-C counts, and becomes the command."""

READY = "Up. In another terminal:"
"""What `citebus up` prints last, when everything answers."""


@dataclass(frozen=True, slots=True)
class Up:
    """A `citebus up` whose services answer."""

    process: subprocess.Popen[str]
    printed: str
    stack: RunningStack
    log: Path

    def family(self) -> list[psutil.Process]:
        """Return the process and all that it started."""
        process = psutil.Process(self.process.pid)
        return [process, *process.children(recursive=True)]

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(STOP_S)

    def said(self) -> str:
        """Return what it wrote to stderr so far."""
        return self.log.read_text()


@dataclass(frozen=True, slots=True)
class Machine:
    """Where citebus is used; `folder` can be entered by every user, since Postgres is somebody else under root."""

    folder: Path
    settings: Mapping[str, str] = field(default_factory=lambda: {"CITEBUS_EMBEDDING_PROVIDER": "hashing"})

    @property
    def data_dir(self) -> Path:
        """Folder with the state of the stack."""
        return self.folder / "data"

    def vault(self, name: str, pages: Mapping[str, str | bytes]) -> Path:
        """Write a vault, or more pages into it, and return its folder."""
        for path, content in pages.items():
            file = self.folder / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        return self.folder / name

    def sample_vault(self) -> Path:
        """Copy the sample vault and return its folder."""
        return shutil.copytree(SAMPLE_VAULT, self.folder / "orveig")

    def citebus(self, *arguments: str | Path, expect: int = 0, typed: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command to its end and check its exit code; `typed` comes through a pipe."""
        done = subprocess.run(
            [CITEBUS, *arguments],
            cwd=self.folder,
            env=self._environment(),
            input=typed,
            capture_output=True,
            text=True,
            timeout=COMMAND_S,
            check=False,
        )
        assert done.returncode == expect, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    @contextmanager
    def running(self, *arguments: str | Path, stdin: int = subprocess.DEVNULL) -> Generator[subprocess.Popen[str]]:
        """Run a command that takes SIGINT, with its output in a pipe; it is killed if the test did not end it."""
        with _interruptible():
            process = subprocess.Popen(
                [CITEBUS, *arguments],
                cwd=self.folder,
                env=self._environment(),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        try:
            yield process
        finally:
            process.kill()
            process.communicate(timeout=STOP_S)

    @contextmanager
    def on_a_terminal(self, *arguments: str | Path) -> Generator[tuple[subprocess.Popen[bytes], int]]:
        """Run a command on a terminal of its own; yield it with the terminal's other end."""
        ours, theirs = pty.openpty()
        environment = {**self._environment(), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
        process = subprocess.Popen(
            [sys.executable, "-c", _TAKE_THE_TERMINAL, CITEBUS, *arguments],
            cwd=self.folder,
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        try:
            yield process, ours
        finally:
            process.kill()
            process.wait(STOP_S)
            os.close(ours)

    @contextmanager
    def up(self, *vaults: Path) -> Generator[Up]:
        """Run `citebus up` and wait until it is ready; it is stopped if the test did not."""
        log = self.folder / "up.log"
        with log.open("w") as stderr, _interruptible():
            process = subprocess.Popen(
                [CITEBUS, "up", *vaults],
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        try:
            printed = _until_ready(process, log)
            stack = read_running_stack(self.data_dir)
            assert stack is not None
            yield Up(process, printed, stack, log)
        finally:
            process.terminate()
            process.communicate(timeout=STOP_S)

    def _environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("CITEBUS_")}
        return {**inherited, "CITEBUS_DATA_DIR": str(self.data_dir), **self.settings}


@contextmanager
def new_machine(settings: Mapping[str, str] | None = None) -> Generator[Machine]:
    """Yield a machine without any state, and remove it afterwards. With the bundled model when `settings` is empty."""
    folder = Path(tempfile.mkdtemp(prefix="citebus-e2e-"))
    folder.chmod(0o711)
    try:
        yield Machine(folder) if settings is None else Machine(folder, settings)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _until_ready(process: subprocess.Popen[str], log: Path) -> str:
    assert process.stdout is not None
    printed: list[str] = []
    for line in process.stdout:
        printed.append(line)
        if line.startswith(READY):
            return "".join(printed)
    raise AssertionError(f"citebus up ended with {process.wait()}:\n{''.join(printed)}{log.read_text()}")


@contextmanager
def _interruptible() -> Generator[None]:
    """Let children take SIGINT, even when this process ignores it, as one in the background of a script does."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
