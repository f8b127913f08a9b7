"""`citebus ingest --once`: syncs a vault, shows progress, and ends when every file is searchable and embedded."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from deploy.embedded.cli.options import DataDir, VaultFolder
from deploy.embedded.cli.progress import follow, shown_progress
from deploy.embedded.cli.session import Session, open_session
from deploy.embedded.cli.status import show_rejected
from deploy.embedded.cli.world import DONE, FAILED, World, run
from shared.contracts.ingest import StatusReply, SyncReply, SyncRequest
from shared.errors import InvalidInput

Once = Annotated[bool, typer.Option("--once", help="End when all is embedded (the only way; to stay: citebus up).")]
Full = Annotated[bool, typer.Option("--full", help="Hash every file, whatever its times say.")]


def ingest(
    context: typer.Context, vault: VaultFolder, data_dir: DataDir, once: Once = False, full: Full = False
) -> NoReturn:
    """Bring a vault up to date and end: 0 when every file is searchable and embedded, 1 when some were rejected.

    Uses the running stack when it watches the vault, else starts one for this command.

    \b
    Examples:
      citebus ingest --once ~/notes
      citebus ingest --once --full ~/notes    # hash every file

    Exit codes: 0 all embedded, 1 files were rejected (they are listed) or it did not finish, 2 asked wrongly.
    """

    async def work(world: World) -> int:
        if not once:
            raise InvalidInput(f"say citebus ingest --once {vault}; to keep watching, citebus up {vault}")
        async with open_session(world, data_dir, (vault,)) as session:
            vault_id = id_of(session, vault, data_dir)
            sync, status = await bring_up_to_date(world, session, vault_id, full=full)
        return tell_outcome(world, sync, status)

    run(context, work)


async def bring_up_to_date(
    world: World, session: Session, vault_id: str, *, full: bool = False
) -> tuple[SyncReply, StatusReply]:
    """Sync a vault and return when all of it is embedded, showing progress; raises DeadlineExceeded when it stalls."""
    sync = await session.client.sync(vault_id, SyncRequest(full=full))
    with shown_progress(world.err) as show:
        status = await follow(session.client, vault_id, "embedded", world.pace, show)
    return sync, status


def id_of(session: Session, vault: Path, data_dir: Path) -> str:
    """Return the id of the vault in that folder; raises InvalidInput when the stack does not watch it."""
    for vault_id, folder in session.vaults.items():
        if folder == vault:
            return vault_id
    raise InvalidInput(
        f"the stack that runs on {data_dir} does not watch {vault}: stop it and run citebus up with this vault too, "
        "or give another --data-dir"
    )


def tell_outcome(world: World, sync: SyncReply, status: StatusReply) -> int:
    """Print how it ended and return the exit code: 0 only when every file of the vault is searchable."""
    show_outcome(world.out, sync, status)
    lost = sync.files - status.pages - status.rejected_count
    if lost > 0:
        world.complain(
            f"{lost:,} files of vault {status.vault_id} are neither searchable nor rejected: "
            "a worker gave them up, see its log (citebus up) and the stream DEAD"
        )
    return FAILED if lost > 0 or status.rejected_count else DONE


def show_outcome(console: Console, sync: SyncReply, status: StatusReply) -> None:
    """Print what the sync found and what is there now."""
    console.print(
        f"{status.vault_id}: {sync.files:,} files, {sync.published:,} changed, {sync.moved:,} moved, "
        f"{sync.removed:,} removed, {sync.unreadable:,} unreadable, {sync.skipped:,} skipped",
        soft_wrap=True,
    )
    console.print(
        f"{status.vault_id}: {status.pages:,} pages, {status.chunks:,} chunks, {status.embedded_chunks:,} embedded, "
        f"{status.dead_links:,} dead links, {status.ambiguous_links:,} ambiguous links",
        soft_wrap=True,
    )
    show_rejected(console, status.rejected, status.rejected_count)
