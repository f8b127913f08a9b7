"""`citebus rebuild`: empties all stores of a data folder and fills them again from the vaults."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from deploy.embedded.cli.ingest import bring_up_to_date, tell_outcome
from deploy.embedded.cli.options import DataDir
from deploy.embedded.cli.session import open_session
from deploy.embedded.cli.world import DONE, FAILED, World, run, world_of
from deploy.embedded.known_vaults import known_vaults
from deploy.embedded.lock import hold
from deploy.embedded.postgres_server import PostgresServer
from deploy.embedded.state import DataFolder
from deploy.embedded.supervised import Supervised
from shared.errors import CitebusError, InvalidInput, Unavailable
from shared.postgres.migrations import empty
from shared.postgres.pool import connect
from shared.postgres.roles import CONVERSATION_TABLES

Vaults = Annotated[
    list[Path] | None,
    typer.Option(
        "--vault",
        metavar="FOLDER",
        exists=True,
        file_okay=False,
        resolve_path=True,
        show_default=False,
        help="A vault to build besides the known ones; repeatable.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Forget = Annotated[
    bool, typer.Option("--forget-conversations", help="Delete Postgres whole: also where it can't be started any more.")
]


def rebuild(
    context: typer.Context, data_dir: DataDir, vaults: Vaults = None, yes: Yes = False, forget: Forget = False
) -> NoReturn:
    """Empty the stores and build everything again from the files of the vaults.

    Chunk ids follow from content alone, so they are the same afterwards. Every text is embedded again. The vaults
    themselves are not touched, and conversations are kept. The stack must not be running.

    \b
    Examples:
      citebus rebuild
      citebus rebuild --yes --vault ~/notes

    Exit codes: 0 all embedded, 1 files were rejected (they are listed) or you said no or it did not finish, 2 asked
    wrongly or a stack runs.
    """

    folders = sorted({*known_vaults(data_dir).values(), *(vaults or ())})
    if folders and not (yes or world_of(context).agreed(_question(data_dir, folders))):
        raise typer.Exit(FAILED)

    async def work(world: World) -> int:
        if not folders:
            raise InvalidInput(f"no vault is known in {data_dir}: name one with --vault")
        await empty_stores(data_dir, keep_conversations=not forget)
        return await _build(world, data_dir, folders)

    run(context, work)


async def empty_stores(data_dir: Path, *, keep_conversations: bool = True) -> None:
    """Delete what NATS, Postgres, Qdrant Edge and the watchers keep, under the lock of the data folder.

    Ports, passwords and the list of vaults stay, conversations too unless told otherwise. Raises InvalidInput when a
    stack runs there or the folder is not one of citebus; Unavailable when something can't be deleted or Postgres not
    started.
    """
    data = DataFolder(data_dir)
    if not _is_ours(data):
        return
    with hold(data):
        postgres = PostgresServer(data)
        stores = [data.nats, data.vectors, data.root / "watcher"]
        if keep_conversations and postgres.is_made:
            await _empty_tables(postgres)
        else:
            stores.append(data.postgres)
        await asyncio.to_thread(_delete, stores)


def _is_ours(data: DataFolder) -> bool:
    """Tell whether there is anything to empty."""
    if data.lock_file.exists():
        return True
    if data.root.exists() and any(data.root.iterdir()):
        raise InvalidInput(f"{data.root} is no data folder of citebus, nothing was deleted; give another --data-dir")
    return False


async def _empty_tables(postgres: PostgresServer) -> None:
    try:
        async with Supervised(postgres), connect(postgres.dsn) as connection:
            await empty(connection, CONVERSATION_TABLES)
    except CitebusError as error:
        raise Unavailable(f"{error} To build anew without them: --forget-conversations") from error


def _delete(folders: Sequence[Path]) -> None:
    for folder in folders:
        try:
            shutil.rmtree(folder)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise Unavailable(f"cannot delete {error.filename or folder}: {error.strerror}") from error


def _question(data_dir: Path, folders: Sequence[Path]) -> str:
    return f"Empty all stores in {data_dir} and build {', '.join(map(str, folders))} again?"


async def _build(world: World, data_dir: Path, folders: Sequence[Path]) -> int:
    code = DONE
    async with open_session(world, data_dir, folders) as session:
        for vault_id in sorted(session.vaults):
            sync, status = await bring_up_to_date(world, session, vault_id)
            code = max(code, tell_outcome(world, sync, status))
    return code
