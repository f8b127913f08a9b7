"""Collaborators that die at a chosen step, as a process does that is killed there."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from services.ingest.ports import Ledger, NewPage, Outbox, Work
from services.ingest.shelf import Shelf
from shared.contracts.embed import ChunkText
from shared.contracts.pages import PageEvent

STEPS = (
    "before the lock",
    "after the lock",
    "before points",
    "after points",
    "before rows",
    "before the commit",
    "after the commit",
    "before deletes",
    "after deletes",
    "before events",
    "between events and texts",
    "after events",
)


class Killed(BaseException):
    """The process is gone; nothing after this runs."""


class Death:
    """Strikes once, at one step."""

    def __init__(self, step: str) -> None:
        self.step = step
        self.struck = False

    def at(self, step: str) -> None:
        """Die if this is the step."""
        if step == self.step and not self.struck:
            self.struck = True
            raise Killed(step)


class MortalStore:
    """A vector store around which the process may die."""

    def __init__(self, store: Any, death: Death) -> None:
        self._store = store
        self._death = death

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def upsert(self, space: str, points: Any) -> None:
        """Write points."""
        self._death.at("before points")
        await self._store.upsert(space, points)
        self._death.at("after points")

    async def delete(self, space: str, ids: Any) -> None:
        """Delete points."""
        self._death.at("before deletes")
        await self._store.delete(space, ids)
        self._death.at("after deletes")


class MortalLedger:
    """A ledger around which the process may die."""

    def __init__(self, ledger: Ledger, death: Death) -> None:
        self._ledger = ledger
        self._death = death

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    @asynccontextmanager
    async def work(self, vault_id: str, file_keys: Collection[str], page_ids: Collection[UUID]) -> AsyncGenerator[Any]:
        """Open a transaction."""
        self._death.at("before the lock")
        async with self._ledger.work(vault_id, file_keys, page_ids) as work:
            yield _MortalWork(work, self._death)
            self._death.at("before the commit")
        self._death.at("after the commit")


class _MortalWork:
    def __init__(self, work: Work, death: Death) -> None:
        self._work = work
        self._death = death

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)

    async def shelf(self) -> Shelf:
        shelf = await self._work.shelf()
        self._death.at("after the lock")
        return shelf

    async def replace(self, shelf: Shelf, pages: Sequence[NewPage]) -> int:
        self._death.at("before rows")
        return await self._work.replace(shelf, pages)


class MortalOutbox:
    """An outbox around which the process may die."""

    def __init__(self, outbox: Outbox, death: Death) -> None:
        self._outbox = outbox
        self._death = death

    async def publish(self, events: Sequence[PageEvent], texts: Iterable[ChunkText]) -> None:
        """Publish events, then texts."""
        self._death.at("before events")
        await self._outbox.publish(events, ())
        self._death.at("between events and texts")
        await self._outbox.publish((), texts)
        self._death.at("after events")

    def carries(self, text: ChunkText) -> bool:
        """Ask the real one."""
        return self._outbox.carries(text)
