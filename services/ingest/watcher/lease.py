"""One watcher per vault: a lease that is renewed while its holder lives.

Two watchers of one vault would undo each other's moves. The second one waits. A holder that can't renew before the
lease runs out stops before another may start; one that died on this machine is followed at once, as its process can
be seen to be gone.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from uuid import uuid4

import structlog

from services.ingest.watcher.ports import LeaseStore
from shared.cancelling import end_if_cancelled
from shared.errors import Unavailable

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Owner:
    """Who holds a lease."""

    host: str = field(default_factory=socket.gethostname)
    pid: int = field(default_factory=os.getpid)
    nonce: str = field(default_factory=lambda: uuid4().hex)

    def to_json(self) -> str:
        """Return the owner as the lease's value."""
        return json.dumps(asdict(self))

    def is_gone(self) -> bool:
        """Say whether the owner is a process of this machine that does not exist any more."""
        if self.host != socket.gethostname():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return False

    @classmethod
    def from_json(cls, text: str) -> Owner | None:
        """Return the owner that a lease's value names; None for a value of another kind."""
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError):
            return None


class Lease:
    """Runs work only while the lease is held."""

    def __init__(self, store: LeaseStore, name: str, owner: Owner, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._name = name
        self._owner = owner
        self._clock = clock
        self._every_s = store.ttl_s * 0.3

    async def hold(self, work: Callable[[], Awaitable[None]]) -> None:
        """Wait for the lease and run `work`; when the lease is lost, cancel it and wait again. Returns with `work`."""
        while True:
            token = await self._wait()
            worker = asyncio.ensure_future(work())
            keeper = asyncio.create_task(self._keep(token))
            try:
                end_if_cancelled()
                await asyncio.wait((worker, keeper), return_when=asyncio.FIRST_COMPLETED)
                if worker.done():
                    return await worker
                _log.warning("the lease on the vault is lost; publishing stops", vault=self._name)
            finally:
                await _cancel(worker)
                await self._release(keeper)

    async def _wait(self) -> int:
        said = False
        while True:
            try:
                token = await self._store.acquire(self._name, self._owner.to_json()) or await self._follow()
            except Unavailable as error:
                token, why = None, str(error)
            else:
                why = "another watcher has it"
            if token is not None:
                return token
            if not said:
                _log.warning("waiting for the lease on the vault", vault=self._name, why=why)
                said = True
            end_if_cancelled()
            await asyncio.sleep(self._every_s / 3)

    async def _follow(self) -> int | None:
        """Take over from an owner that is known to be gone, or from this very process after a lost answer."""
        held = await self._store.owner(self._name)
        if held is None:
            return None
        text, token = held
        owner = Owner.from_json(text)
        if owner is not None and (owner == self._owner or owner.is_gone()):
            return await self._store.renew(self._name, self._owner.to_json(), token)
        return None

    async def _keep(self, token: int) -> int | None:
        """Renew until cancelled; return None once the lease is lost or may be. When cancelled, return the token."""
        renewed_at = self._clock()
        while True:
            try:
                end_if_cancelled()
                await asyncio.sleep(self._every_s)
                started_at = self._clock()
                async with asyncio.timeout(self._every_s):
                    newer = await self._store.renew(self._name, self._owner.to_json(), token)
            except (Unavailable, TimeoutError):
                if self._clock() - renewed_at >= 2 * self._every_s:
                    return None  # two tries failed; a third could end after the lease does
                continue
            except asyncio.CancelledError:
                return token
            if newer is None:
                return None
            token, renewed_at = newer, started_at

    async def _release(self, keeper: asyncio.Task[int | None]) -> None:
        keeper.cancel()
        await asyncio.wait((keeper,))
        token = None if keeper.cancelled() else keeper.result()
        if token is not None:
            try:
                await self._store.release(self._name, token)
            except Unavailable:
                _log.info("the lease runs out by itself", vault=self._name)


async def _cancel(task: asyncio.Future[None]) -> None:
    task.cancel()
    await asyncio.wait((task,))
