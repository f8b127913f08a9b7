"""`citebus wait`: returns when what a file says now is searchable, or embedded."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from deploy.embedded.cli.options import DataDir
from deploy.embedded.cli.progress import Until
from deploy.embedded.cli.session import Session, open_session, vault_around
from deploy.embedded.cli.world import DONE, World, run
from shared.contracts.ingest import WaitRequest
from shared.errors import InvalidInput
from shared.ids import content_hash, normal_path

File = Annotated[
    Path,
    typer.Argument(metavar="PATH", exists=True, dir_okay=False, resolve_path=True, help="A file in a vault."),
]
UntilState = Annotated[Until, typer.Option("--until", help="searchable: found by its words; embedded: by meaning too.")]
Timeout = Annotated[float, typer.Option("--timeout", min=0.001, help="Seconds to wait at most.")]


def wait(
    context: typer.Context, path: File, data_dir: DataDir, until: UntilState = "searchable", timeout: Timeout = 30.0
) -> NoReturn:
    """Wait until what PATH says at this moment is searchable, so that a script can save and then search.

    \b
    Examples:
      citebus wait notes/wiki/tides.md
      citebus wait notes/wiki/tides.md --until embedded --timeout 120

    Exit codes: 0 it is there, 1 not in time, 2 the file was rejected or is in no known vault.
    """

    async def work(world: World) -> int:
        async with open_session(world, data_dir) as session:
            vault_id, relative = _place(session, path)
            request = WaitRequest(path=relative, content_hash=content_hash(_bytes(path)), until=until)
            reply = await session.client.wait(vault_id, request, timeout_s=timeout)
        world.out.print(f"{relative} is {until}: revision {reply.revision} of vault {vault_id}", soft_wrap=True)
        return DONE

    run(context, work)


def _place(session: Session, path: Path) -> tuple[str, str]:
    vault_id = vault_around(session.vaults, path)
    if vault_id is None:
        known = ", ".join(str(folder) for folder in session.vaults.values()) or "none"
        raise InvalidInput(f"{path} is in no vault that the stack watches; it watches {known}")
    return vault_id, normal_path(path.relative_to(session.vaults[vault_id]).as_posix())


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error
