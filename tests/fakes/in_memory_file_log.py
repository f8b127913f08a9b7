"""A FileLog, a VaultSettingsStore and a LeaseStore that keep everything in memory, for tests of the watcher."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

from shared.contracts.files import FileChanged, FileStamp, VaultSettings
from shared.errors import TooLarge, Unavailable
from shared.ids import file_key


class InMemoryFileLog:
    """Keeps the newest message of each file, and the history of all of them.

    `down` makes every call raise Unavailable; `lose_acks` makes so many calls store and then raise, as a
    connection does that breaks before the answer; `on_publish` is called after each batch; `wipe` makes the log anew.
    """

    def __init__(self, max_content_bytes: int = 6_000_000) -> None:
        self.history: list[FileChanged] = []
        self.batches: list[list[FileChanged]] = []
        self.down = False
        self.lose_acks = 0
        self.on_publish: Callable[[], object] | None = None
        self._max_content_bytes = max_content_bytes
        self._newest: dict[tuple[str, str], FileChanged] = {}
        self._seen: set[tuple[int, bytes]] = set()
        self._sequence = 0
        self._made = 1
        self._grew = asyncio.Condition()

    @property
    def max_content_bytes(self) -> int:
        """As the port says."""
        return self._max_content_bytes

    async def publish(self, changes: Sequence[FileChanged], batch: int) -> int:
        """As the port says; the same message in the same batch is stored once."""
        self._reach()
        for change in changes:
            if len(change.content or b"") > self._max_content_bytes:
                raise TooLarge(f"{change.path} does not fit into a message")
            self._append(change, batch)
        self.batches.append(list(changes))
        if self.on_publish is not None:
            self.on_publish()
        async with self._grew:
            self._grew.notify_all()
        if self.lose_acks:
            self.lose_acks -= 1
            raise Unavailable("the answer was lost")
        return self._sequence

    async def stamps(self, vault_id: str) -> AsyncIterator[FileStamp]:
        """As the port says."""
        self._reach()
        for (vault, _), change in list(self._newest.items()):
            if vault == vault_id:
                yield FileStamp.model_validate(change.model_dump(include=set(FileStamp.model_fields)))

    async def newest(self, vault_id: str, path: str) -> FileChanged | None:
        """As the port says."""
        self._reach()
        return self._newest.get((vault_id, file_key(path)))

    async def identity(self) -> str:
        """As the port says."""
        self._reach()
        return f"made {self._made}"

    def wipe(self) -> None:
        """Lose everything and be another log."""
        self._newest.clear()
        self._seen.clear()
        self._sequence = 0
        self._made += 1

    def files(self) -> dict[str, FileChanged]:
        """Return the newest message of each file that is not removed, by path."""
        return {change.path: change for change in self._newest.values() if change.change != "removed"}

    def tombstones(self) -> dict[str, FileChanged]:
        """Return the newest message of each file that is removed, by path."""
        return {change.path: change for change in self._newest.values() if change.change == "removed"}

    async def until(self, is_so: Callable[[InMemoryFileLog], bool], timeout_s: float = 20.0) -> None:
        """Wait until the log is as asked; raises TimeoutError."""
        async with asyncio.timeout(timeout_s), self._grew:
            await self._grew.wait_for(lambda: is_so(self))

    def _append(self, change: FileChanged, batch: int) -> None:
        identity = (batch, change.to_json())
        if identity in self._seen:
            return
        self._seen.add(identity)
        self._sequence += 1
        self.history.append(change)
        key = (change.vault_id, file_key(change.path))
        self._newest.pop(key, None)
        self._newest[key] = change

    def _reach(self) -> None:
        if self.down:
            raise Unavailable("the log is down")


class InMemoryVaultSettingsStore:
    """Keeps each vault's settings."""

    def __init__(self) -> None:
        self.settings: dict[str, VaultSettings] = {}

    async def put(self, settings: VaultSettings) -> None:
        """As the port says."""
        self.settings[settings.vault_id] = settings


class InMemoryLeaseStore:
    """Keeps leases; they run out by `clock`, or at once by `expire`."""

    def __init__(self, clock: Callable[[], float], ttl_s: float = 10.0) -> None:
        self.down = False
        self._ttl_s = ttl_s
        self._clock = clock
        self._leases: dict[str, tuple[str, int, float]] = {}
        self._token = 0

    @property
    def ttl_s(self) -> float:
        """As the port says."""
        return self._ttl_s

    async def acquire(self, name: str, owner: str) -> int | None:
        """As the port says."""
        return None if await self.owner(name) else self._write(name, owner)

    async def owner(self, name: str) -> tuple[str, int] | None:
        """As the port says."""
        if self.down:
            raise Unavailable("the store of leases is down")
        lease = self._leases.get(name)
        return None if lease is None or lease[2] <= self._clock() else lease[:2]

    async def renew(self, name: str, owner: str, token: int) -> int | None:
        """As the port says."""
        held = await self.owner(name)
        return self._write(name, owner) if held is not None and held[1] == token else None

    async def release(self, name: str, token: int) -> None:
        """As the port says."""
        held = await self.owner(name)
        if held is not None and held[1] == token:
            self.expire(name)

    def expire(self, name: str) -> None:
        """Let a lease run out now."""
        self._leases.pop(name, None)

    def _write(self, name: str, owner: str) -> int:
        self._token += 1
        self._leases[name] = (owner, self._token, self._clock() + self._ttl_s)
        return self._token
