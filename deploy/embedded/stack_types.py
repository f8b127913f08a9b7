"""What a command needs to know of the embedded stack: how to open one, and what an open one offers.

Commands are written against these types, so that they can be tried without servers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StackOptions:
    """Which stack to open."""

    data_dir: Path
    """Folder that holds its state; made where missing."""
    vaults: tuple[Path, ...]
    """Folders to watch. May be empty."""


@dataclass(frozen=True, slots=True)
class StackPart:
    """One server or service of an open stack, as a person sees it."""

    name: str
    where: str
    """Address, process id or folder; never a password."""


class OpenedStack(Protocol):
    """A stack whose services answer."""

    @property
    def nats_url(self) -> str:
        """Where clients connect, with user and password."""
        ...

    @property
    def vaults(self) -> Mapping[str, Path]:
        """Vault id to the vault's folder (absolute)."""
        ...

    @property
    def parts(self) -> Sequence[StackPart]:
        """What runs where, in the order in which it was started."""
        ...

    async def wait(self) -> None:
        """Return never while all is well; raise the CitebusError of the first part that gave up."""
        ...


class StackOpener(Protocol):
    """Opens a stack.

    On entering: all services answer and the vaults are written down (deploy.embedded.known_vaults), else a CitebusError
    is raised, never in a group, and nothing is left running (InvalidInput when a stack already runs on the data folder
    or a vault is no folder). On leaving, also when cancelled: everything is stopped in order.
    """

    def __call__(self, options: StackOptions, /) -> AbstractAsyncContextManager[OpenedStack]:
        """Return the stack's context."""
        ...
