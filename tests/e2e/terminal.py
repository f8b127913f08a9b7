"""A person at a terminal: reads what is shown, and types."""

from __future__ import annotations

import os
import re
import select
import time
from dataclasses import dataclass

_STEERING = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-Z\\-_=>])")

CTRL_C, CTRL_D = "\x03", "\x04"


@dataclass
class Person:
    """Sits at the other end of a command's terminal."""

    terminal: int
    _read: str = ""

    def types(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def sees(self, words: str, timeout_s: float = 60.0) -> str:
        """Wait until something is shown, and return everything up to it, without colours; it is not seen again."""
        end = time.monotonic() + timeout_s
        while (shown := _STEERING.sub("", self._read)).find(words) < 0:
            ready, _, _ = select.select([self.terminal], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"'{words}' was not shown within {timeout_s} s, but:\n{shown}"
            self._read += self._more()
        before, _, rest = shown.partition(words)
        self._read = rest
        return before + words

    def _more(self) -> str:
        try:
            return os.read(self.terminal, 65_536).decode(errors="replace")
        except OSError as error:  # how Linux says that the command has gone
            raise AssertionError(f"the command ended; it had shown:\n{_STEERING.sub('', self._read)}") from error
