"""Keeps the page graph: settles the edges around pages that commits have marked, in the background.

A commit only marks; so an edit is searchable without waiting for any edge, and an edit of text alone costs the graph
nothing. The keeper waits for a short quiet, so that a burst of changes is settled once, and for a longer one in a bulk
load, which then has the processors for itself. Until then, retrieval counts plain links.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import structlog

from shared.cancelling import end_if_cancelled

_log = structlog.get_logger(__name__)

_PATIENCE = 20
"""Quiet times that a keeper waits for quiet: changes that never end do not keep edges old for ever."""

_MAX_REST_S = 0.5
"""After a batch the keeper rests as long as it took, so that a large vault leaves room for edits and searches."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What one batch did."""

    pages: int
    """Marked pages; 0: none was left."""
    written: int
    removed: int
    """Rows of `edges`, two for each pair."""


class Edges(Protocol):
    """The stored graph and its marks (Postgres). Every method raises Unavailable."""

    async def adopt_rules(self) -> bool:
        """Mark every page when edges were kept by other rules, or never yet; return whether."""
        ...

    async def marked_vaults(self) -> list[str]:
        """Return the vaults that have marked pages."""
        ...

    async def settle(self, vault_id: str, limit: int) -> Settled | None:
        """Make right the edges around at most `limit` marked pages, and take the marks off, all or nothing.

        None: another keeper is at this vault.
        """
        ...


@dataclass(frozen=True, slots=True)
class Pace:
    """When the keeper works. Seconds."""

    batch: int = 256
    """Marked pages of one transaction, at most."""
    quiet_s: float = 0.05
    bulk_quiet_s: float = 1.0
    bulk_marks: int = 32
    """Marks since the last quiet that tell a bulk load."""
    sweep_s: float = 5.0
    """Marks of processes that died, or of other keepers' vaults, are looked for so often."""


class EdgeKeeper:
    """Settles marks while `run` runs; any number of keepers, in any processes, may run at once."""

    def __init__(self, edges: Edges, pace: Pace | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._edges = edges
        self._pace = pace or Pace()
        self._clock = clock
        self._news = asyncio.Event()
        self._marks = 0

    def wake(self, marks: int) -> None:
        """Say that a commit has marked so many pages."""
        self._marks += marks
        self._news.set()

    async def run(self) -> None:
        """Settle what is marked, for ever. Raises Unavailable; nothing is lost, run it again."""
        if await self._edges.adopt_rules():
            _log.info("edges.all_marked")
        while True:
            await self.keep()
            end_if_cancelled()
            await self._quiet()

    async def keep(self) -> int:
        """Settle until no mark is left that no other keeper is at; return how many pages that were."""
        pages = 0
        for vault_id in await self._edges.marked_vaults():
            while True:
                began = self._clock()
                settled = await self._edges.settle(vault_id, self._pace.batch)
                if settled is None:
                    self._news.set()  # marks that the other keeper no longer sees are looked for after a quiet
                    break
                pages += settled.pages
                if settled.pages < self._pace.batch:
                    break
                await asyncio.sleep(min(self._clock() - began, _MAX_REST_S))
        if pages > self._pace.batch:
            _log.info("edges.settled", pages=pages)
        return pages

    async def _quiet(self) -> None:
        """Return a quiet time after the last of some commits, or when it is time to look."""
        if not await self._news_within(self._pace.sweep_s):
            return
        began = self._clock()
        while True:
            quiet_s = self._pace.bulk_quiet_s if self._marks >= self._pace.bulk_marks else self._pace.quiet_s
            late = self._clock() - began >= _PATIENCE * quiet_s
            if late or not await self._news_within(quiet_s):
                self._marks = 0
                return

    async def _news_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return False
        self._news.clear()
        return True
