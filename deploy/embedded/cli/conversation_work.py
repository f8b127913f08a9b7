"""What the commands about conversations have in common: one vault, one connection, JSON as the service sent it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NoReturn

import typer

from deploy.embedded.cli.chat_options import one_vault
from deploy.embedded.cli.session import folder_named, open_session
from deploy.embedded.cli.world import DONE, World, run
from deploy.embedded.client import BusClient
from shared.contracts.message import Record

Work = Callable[[World, BusClient, str], Awaitable[None]]


def with_vault(context: typer.Context, data_dir: Path, vault: str | None, work: Work) -> NoReturn:
    """Run `work` with a connection and the id of the one vault that is meant."""

    async def working(world: World) -> int:
        async with open_session(world, data_dir, folder_named(vault)) as session:
            await work(world, session.client, one_vault(session, vault))
        return DONE

    run(context, working)


def print_json(world: World, record: Record | dict[str, object]) -> None:
    """Print a reply as the service sent it."""
    shown = record.model_dump(mode="json") if isinstance(record, Record) else record
    world.out.out(json.dumps(shown, ensure_ascii=False, indent=2), highlight=False)
