"""What the watcher needs from the world: a log of files, a place for the vault's settings, a store of leases."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from shared.contracts.files import FileChanged, FileStamp, VaultSettings


class FileLog(Protocol):
    """The compacted log of a vault's files. Every method raises Unavailable while the log can't be reached."""

    @property
    def max_content_bytes(self) -> int:
        """Largest content that fits into one message; a larger one makes `publish` raise TooLarge."""
        ...

    async def publish(self, changes: Sequence[FileChanged], batch: int) -> int:
        """Append the changes in their order and return the position of the last one; durable when it returns.

        No `removed` is sent before everything ahead of it is stored. `batch` is the same number when a batch is
        tried again after Unavailable and another for every later batch: within the log's window of duplicates
        (2 minutes) the same change of a file in the same batch is stored once.
        """
        ...

    def stamps(self, vault_id: str) -> AsyncIterator[FileStamp]:
        """Yield the newest stamp of each file in the log, tombstones too, in the log's order, without contents."""
        ...

    async def newest(self, vault_id: str, path: str) -> FileChanged | None:
        """Return the newest message of one file, with its content; None when the log has none."""
        ...

    async def identity(self) -> str:
        """Return what changes exactly when the log was wiped and made anew."""
        ...


class VaultSettingsStore(Protocol):
    """Where workers and retrieval find a vault's settings."""

    async def put(self, settings: VaultSettings) -> None:
        """Keep the settings under their vault's id. Raises Unavailable."""
        ...


class LeaseStore(Protocol):
    """Leases that run out by themselves. Every method raises Unavailable while the store can't be reached."""

    @property
    def ttl_s(self) -> float:
        """Seconds after which a lease that is not renewed is free again."""
        ...

    async def acquire(self, name: str, owner: str) -> int | None:
        """Take a lease that is free; return its token, or None when another owner has it."""
        ...

    async def owner(self, name: str) -> tuple[str, int] | None:
        """Return who has the lease and the token of it; None when it is free."""
        ...

    async def renew(self, name: str, owner: str, token: int) -> int | None:
        """Write the lease anew for `owner` if `token` is still its newest; return the next token, else None."""
        ...

    async def release(self, name: str, token: int) -> None:
        """Free the lease if `token` is still its newest."""
        ...
