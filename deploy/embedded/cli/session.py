"""A connection to the services on a data folder: to the stack that runs there, else to one started for the command."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from deploy.embedded.cli.world import World
from deploy.embedded.client import BusClient
from deploy.embedded.known_vaults import known_vaults
from deploy.embedded.lock import is_held
from deploy.embedded.stack_types import StackOptions
from deploy.embedded.state import RunningStack, read_running_stack
from shared.errors import InvalidInput

_START_S = 60.0
_LOOK_S = 0.2


@dataclass(frozen=True, slots=True)
class Session:
    """Services that answer."""

    client: BusClient
    vaults: Mapping[str, Path]
    """Vault id to folder."""
    temporary: bool
    """The stack was started for this command, so what changed while none ran may not be searchable yet."""


@asynccontextmanager
async def open_session(world: World, data_dir: Path, folders: Sequence[Path] = ()) -> AsyncGenerator[Session]:
    """Connect to the stack on `data_dir`, or start one with `folders`, or with the known vaults when none is given.

    One that is just starting is waited for.
    Raises InvalidInput when no vault is known, and what opening a stack or connecting raises.
    """
    running = await _running_stack(world, data_dir)
    if running is not None:
        async with world.connect(running.nats_url) as client:
            vaults = {vault.vault_id: vault.folder for vault in running.vaults}
            yield Session(client, vaults, temporary=False)
        return
    watched = tuple(folders) or tuple(known_vaults(data_dir).values())
    if not watched:
        raise InvalidInput(f"no vault is known in {data_dir}: run citebus up VAULT, or citebus ingest --once VAULT")
    world.note(f"no stack runs on {data_dir}: starting one for this command")
    async with world.open_stack(StackOptions(data_dir, watched)) as stack, world.connect(stack.nats_url) as client:
        yield Session(client, dict(stack.vaults), temporary=True)


async def _running_stack(world: World, data_dir: Path) -> RunningStack | None:
    """Return what runs, once it is up; None when nothing runs, or is not up in time."""
    for attempt in range(round(_START_S / _LOOK_S)):
        running = read_running_stack(data_dir)
        if running is not None or not is_held(data_dir):
            return running
        if attempt == 0:
            world.note(f"citebus is just starting on {data_dir}: waiting for it")
        await asyncio.sleep(_LOOK_S)
    return None


def chosen_vaults(session: Session, named: str | None) -> tuple[str, ...]:
    """Return the vault named by id or folder; with no name the one around the current directory, else all.

    Raises InvalidInput when there is none.
    """
    if not session.vaults:
        raise InvalidInput("the stack watches no vault: stop it and run citebus up VAULT")
    if named is not None:
        return (_named(session.vaults, named),)
    here = vault_around(session.vaults, Path.cwd())
    return (here,) if here is not None else tuple(sorted(session.vaults))


def vault_around(vaults: Mapping[str, Path], path: Path) -> str | None:
    """Return the vault whose folder holds `path`, the innermost one when vaults are nested; None when none does."""
    around = [vault_id for vault_id, folder in vaults.items() if path.is_relative_to(folder)]
    return max(around, key=lambda vault_id: len(vaults[vault_id].parts), default=None)


def folder_named(named: str | None) -> tuple[Path, ...]:
    """Return the folder that a `--vault` names, as the one vault of a stack to start; empty when it is an id."""
    if named is None or not Path(named).is_dir():
        return ()
    return (Path(named).resolve(),)


def _named(vaults: Mapping[str, Path], named: str) -> str:
    if named in vaults:
        return named
    for vault_id, folder in vaults.items():
        if folder == Path(named).resolve():
            return vault_id
    known = ", ".join(f"{vault_id} ({folder})" for vault_id, folder in sorted(vaults.items()))
    raise InvalidInput(f"the stack watches no vault '{named}'; it watches {known}")
