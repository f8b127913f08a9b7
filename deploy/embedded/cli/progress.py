"""Follows a vault until it is searchable or embedded, by asking for its status."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from deploy.embedded.cli.world import Pace
from deploy.embedded.client import BusClient
from shared.contracts.ingest import StatusReply
from shared.errors import DeadlineExceeded

Until = Literal["searchable", "embedded"]
Show = Callable[[StatusReply], None]


def is_searchable(status: StatusReply) -> bool:
    """Tell whether no file change waits."""
    return status.files_lag == 0


def is_embedded(status: StatusReply) -> bool:
    """Tell whether no file change waits and every live chunk has its vector."""
    return is_searchable(status) and status.embed_lag == 0 and status.embedded_chunks == status.chunks


async def follow(client: BusClient, vault_id: str, until: Until, pace: Pace, show: Show) -> StatusReply:
    """Return the status once the vault is as asked; every status on the way is given to `show`.

    Raises DeadlineExceeded when nothing changes for `pace.stall_s`: a provider is down, or a text can't be embedded.
    """
    is_there = is_searchable if until == "searchable" else is_embedded
    loop = asyncio.get_running_loop()
    last: StatusReply | None = None
    changed_at = loop.time()
    while True:
        status = await client.status(vault_id)
        show(status)
        if is_there(status):
            return status
        if status != last:
            last, changed_at = status, loop.time()
        elif loop.time() - changed_at > pace.stall_s:
            raise DeadlineExceeded(_stalled(status, pace.stall_s))
        await asyncio.sleep(pace.poll_s)


def _stalled(status: StatusReply, stall_s: float) -> str:
    missing = status.chunks - status.embedded_chunks
    return (
        f"nothing has moved in vault {status.vault_id} for {stall_s:.0f} s: {status.files_lag:,} file changes and "
        f"{status.embed_lag:,} texts wait, {missing:,} chunks have no vector; look at the log with citebus up"
    )


@contextmanager
def shown_progress(console: Console) -> Generator[Show]:
    """Give a function that shows statuses as two bars on a terminal, and as one line per tenth elsewhere."""
    if not console.is_terminal:
        yield _Lines(console)
        return
    columns = (TextColumn("{task.description:10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        yield _Bars(progress)


class _Bars:
    """Two bars: file changes worked since the start, and chunks with a vector."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._files = progress.add_task("files", total=None)
        self._chunks = progress.add_task("vectors", total=None)
        self._most_files = 0

    def __call__(self, status: StatusReply) -> None:
        self._most_files = max(self._most_files, status.files_lag)
        worked = self._most_files - status.files_lag
        self._progress.update(self._files, total=self._most_files or None, completed=worked)
        self._progress.update(self._chunks, total=status.chunks or None, completed=status.embedded_chunks)


class _Lines:
    """A line whenever another tenth of the chunks has its vector; none when there is nothing to wait for."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._told = -1

    def __call__(self, status: StatusReply) -> None:
        tenth = 10 * status.embedded_chunks // status.chunks if status.chunks else 0
        if tenth == self._told or (self._told < 0 and is_embedded(status)):
            return
        self._told = tenth
        self._console.print(
            f"{status.files_lag} file changes waiting, {status.embedded_chunks} of {status.chunks} chunks embedded"
        )
