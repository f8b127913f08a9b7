"""How output looks: rich on a terminal, plain lines without boxes, colours or line breaks of ours anywhere else."""

from __future__ import annotations

import re
import textwrap

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

PLAIN_WIDTH = 10_000
"""Wide enough that rich breaks no line of piped output: a path stays on its line, for grep and cut."""

TEXT_WIDTH = 100
"""Longest line of running text; longer ones are hard to read on a wide terminal."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def open_console(*, stderr: bool = False) -> Console:
    """Return a console that takes text literally: no markup, no emoji codes, no guessed colours."""
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    return console


def open_table(console: Console, *columns: str, right: tuple[str, ...] = ()) -> Table:
    """Return an empty table with these headings; the columns named in `right` are aligned to the right."""
    table = Table(box=SIMPLE_HEAD if console.is_terminal else None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return table


def printable(text: str) -> str:
    """Return text from a vault or a service without characters that could steer a terminal or turn text around."""
    return _CONTROL.sub("", text)


def on_one_line(text: str) -> str:
    """Return printable text without line ends: a file's name may hold them, and would forge a line of its own."""
    return printable(text).replace("\n", "␤")


def wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a text, none longer than `width`; line breaks and indentation of the text are kept."""
    lines: list[str] = []
    for line in printable(text.expandtabs(4)).split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        lines += textwrap.wrap(line, max(width, 20), subsequent_indent=indent[:20], break_on_hyphens=False) or [""]
    return lines


def text_width(console: Console) -> int:
    """Return how wide running text may be on this console."""
    return min(console.width, TEXT_WIDTH)


def size(count: float) -> str:
    """Return a number of bytes for people: 1,536 is `1.5 kB`."""
    for unit in ("B", "kB", "MB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GB"
