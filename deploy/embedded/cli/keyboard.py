"""Where `citebus chat` has its lines from: a terminal with history and line editing, or a pipe, line by line."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from io import UnsupportedOperation
from pathlib import Path
from typing import Protocol, TextIO

from rich.console import Console

HISTORY_FILE = "chat-history"
"""In the data folder; readable by its owner only."""

_READ_BYTES = 65_536


class Keyboard(Protocol):
    """A source of lines."""

    async def line(self) -> str:
        """Return the next line without its end; raises EOFError behind the last, KeyboardInterrupt on Ctrl-C."""
        ...


def open_keyboard(console: Console, data_dir: Path, source: TextIO | None = None) -> Keyboard:
    """Return the keyboard for a terminal, when both input and output are one, else the lines of the input."""
    lines = source or sys.stdin
    if not (console.is_terminal and lines.isatty()):
        return _Piped(lines) if _is_waited_for(lines) else _Ready(lines)
    return _Terminal(data_dir / HISTORY_FILE)


class _Terminal:
    """Line editing, and a history that is kept."""

    def __init__(self, history: Path) -> None:
        from prompt_toolkit import PromptSession  # noqa: PLC0415  (loads for a tenth of a second: only when it is used)
        from prompt_toolkit.history import FileHistory  # noqa: PLC0415

        history.touch(mode=0o600)
        self._session: PromptSession[str] = PromptSession(history=FileHistory(history))

    async def line(self) -> str:
        """See Keyboard.line."""
        return await self._session.prompt_async("> ")


class _Ready:
    """A file: what is there can be read without waiting."""

    def __init__(self, source: TextIO) -> None:
        self._source = source

    async def line(self) -> str:
        """See Keyboard.line."""
        line = self._source.readline()
        if not line:
            raise EOFError
        return line.rstrip("\r\n")


class _Piped:
    """A pipe, a socket or a terminal without line editing: the event loop runs on while nothing comes."""

    def __init__(self, source: TextIO) -> None:
        self._file = source.fileno()
        self._read = b""
        self._ended = False

    async def line(self) -> str:
        """See Keyboard.line."""
        while b"\n" not in self._read and not self._ended:
            await self._more()
        if not self._read:
            raise EOFError
        line, _, self._read = self._read.partition(b"\n")
        return line.decode(errors="replace").rstrip("\r")

    async def _more(self) -> None:
        loop = asyncio.get_running_loop()
        ready = loop.create_future()
        loop.add_reader(self._file, lambda: ready.done() or ready.set_result(None))
        try:
            await ready
        finally:
            loop.remove_reader(self._file)
        read = os.read(self._file, _READ_BYTES)
        self._read += read
        self._ended = not read


def _is_waited_for(source: TextIO) -> bool:
    try:
        mode = os.fstat(source.fileno()).st_mode
    except (UnsupportedOperation, OSError):  # not a file of the system's
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or source.isatty()
