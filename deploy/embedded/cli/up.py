"""`citebus up`: the whole stack on one machine, until it is stopped."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer
from rich.console import Console

from deploy.embedded.cli.options import DataDir
from deploy.embedded.cli.screen import open_table, printable
from deploy.embedded.cli.world import DONE, World, run
from deploy.embedded.known_vaults import known_vaults
from deploy.embedded.stack_types import OpenedStack, StackOptions
from shared.errors import InvalidInput

Vaults = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="VAULT...",
        exists=True,
        file_okay=False,
        resolve_path=True,
        show_default=False,
        help="Folders to watch. Default: those of last time.",
    ),
]
LogLevel = Annotated[
    Literal["debug", "info", "warning", "error"], typer.Option("--log-level", help="What the services log to stderr.")
]


def up(context: typer.Context, data_dir: DataDir, vaults: Vaults = None, log_level: LogLevel = "warning") -> NoReturn:
    """Start NATS, Postgres and all services on this machine and keep the vaults searchable, until Ctrl-C.

    Listens on loopback only. Other citebus commands find the running stack by its data folder. A second Ctrl-C stops at
    once; the next start recovers.

    \b
    Examples:
      citebus up ~/notes
      citebus up ~/notes ~/work/handbook --data-dir /var/tmp/citebus
      citebus up                      # the vaults of last time

    Exit codes: 0 stopped with SIGTERM, 1 a part gave up, 2 asked wrongly or already running, 130 Ctrl-C.
    """

    async def work(world: World) -> int:
        folders = vaults or list(known_vaults(data_dir).values())
        if not folders:
            raise InvalidInput(f"no vault is known in {data_dir}: name one, citebus up ~/notes")
        async with world.open_stack(StackOptions(data_dir, tuple(folders))) as stack:
            _show(world.out, stack, data_dir)
            await _until_stopped(stack)
            world.note("stopping")
        return DONE

    run(context, work, log_level=log_level)


def _show(console: Console, stack: OpenedStack, data_dir: Path) -> None:
    table = open_table(console, "part", "where")
    rows: Sequence[tuple[str, str]] = [
        *((part.name, part.where) for part in stack.parts),
        *((f"vault {vault_id}", str(folder)) for vault_id, folder in sorted(stack.vaults.items())),
        ("data", str(data_dir)),
    ]
    for name, where in rows:
        table.add_row(name, printable(where))
    console.print(table)
    console.print(
        'Up. In another terminal: citebus ask "your question", or citebus chat. Stop with Ctrl-C.', soft_wrap=True
    )


async def _until_stopped(stack: OpenedStack) -> None:
    """Return on SIGTERM; raise what stopped the stack. Ctrl-C cancels this, as asyncio has it."""
    with _terminated() as stop:
        waits = {asyncio.create_task(stack.wait()), asyncio.create_task(stop.wait())}
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                await task
        finally:
            for task in waits:
                task.cancel()


@contextmanager
def _terminated() -> Generator[asyncio.Event]:
    event = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, event.set)
    try:
        yield event
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
