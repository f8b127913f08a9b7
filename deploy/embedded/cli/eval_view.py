"""What `citebus eval` shows: how far it is, and the tables of every set."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from deploy.embedded.cli.screen import open_table, printable
from deploy.evaluation.asking import Variant
from deploy.evaluation.prepared import Prepared
from deploy.evaluation.questions import JudgedSet
from deploy.evaluation.tables import Rows, Section


def show_section(console: Console, section: Section) -> None:
    """Print a set's tables and what to know about them."""
    console.print()
    console.print(printable(section.name), style="bold", soft_wrap=True)
    console.print(printable(section.facts), style="dim", soft_wrap=True)
    for rows in section.tables:
        if rows.rows:
            _show_table(console, rows)
    for remark in section.remarks:
        console.print(printable(f"* {remark}"), style="dim", soft_wrap=True)


def _show_table(console: Console, rows: Rows) -> None:
    table = open_table(console, *rows.headings, right=rows.headings[rows.words :])
    for row in rows.rows:
        table.add_row(*map(printable, row))
    console.print(table)


class ShownProgress:
    """Tells what is done: a line per vault and per variant, and on a terminal a bar while questions are asked."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar: Progress | None = None

    def ingesting(self, judged: JudgedSet, prepared: Prepared) -> None:
        """Say which vault is being opened."""
        done = "ingesting" if prepared.is_new else "already ingested, opening"
        self._say(f"{judged.name}: {done} {len(prepared.ids):,} documents in {prepared.root}")

    def asked(self, variant: Variant, done: int, total: int) -> None:
        """Move the variant's bar; the last question takes it away and leaves a line."""
        if self._console.is_terminal:
            self._move(variant.label, done, total)
        if done == total:
            self.clear()
            self._say(f"  {variant.label}: {total:,} questions asked")

    def clear(self) -> None:
        """Take away a bar that is still there."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _move(self, label: str, done: int, total: int) -> None:
        if self._bar is None:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._bar.add_task(label, total=total)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done)

    def _say(self, text: str) -> None:
        self._console.print(printable(text), style="dim", soft_wrap=True)


@contextmanager
def shown_asking(console: Console) -> Generator[ShownProgress]:
    """Give what shows how many questions are asked; a variant that failed leaves no bar behind."""
    progress = ShownProgress(console)
    try:
        yield progress
    finally:
        progress.clear()
