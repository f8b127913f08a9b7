"""The turns that this process answers: bounded, one task each, stopped by cancel, shutdown, or when they are lost."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from uuid import UUID

import structlog

from services.chat.answering import Answering
from services.chat.turn import Turn
from shared.errors import Unavailable

_log = structlog.get_logger(__name__)

_RETRY_AFTER_S = 1.0


class RunningTurns:
    """Starts and stops turns."""

    def __init__(self, answering: Answering, limit: int) -> None:
        self._answering = answering
        self._limit = limit
        self._turns: dict[tuple[str, UUID], Turn] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False

    @property
    def message_ids(self) -> Collection[UUID]:
        """The answers that are being written."""
        return {turn.begun.message_id for turn in self._turns.values()}

    def check_room(self) -> None:
        """Raise Unavailable when as many turns run as may, or the process is about to stop."""
        if self._closing or len(self._turns) >= self._limit:
            raise Unavailable("Too many questions are being answered: try again.", retry_after_s=_RETRY_AFTER_S)

    def start(self, turn: Turn) -> None:
        """Answer the turn in a task of its own."""
        key = (turn.begun.vault_id, turn.begun.turn_id)
        self._turns[key] = turn
        task = asyncio.create_task(self._answering.answer(turn), name=f"turn {turn.begun.turn_id}")
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._ended(key, done))
        if self._closing:
            turn.stop("shutdown")

    def cancel(self, vault_id: str, turn_id: UUID) -> None:
        """Stop the turn if it runs here; the vault must be the turn's own."""
        if (turn := self._turns.get((vault_id, turn_id))) is not None:
            turn.stop("asked")

    def stop_lost(self, message_ids: Collection[UUID]) -> None:
        """Stop turns whose answers were ended elsewhere, or deleted."""
        for turn in self._turns.values():
            if turn.begun.message_id in message_ids:
                turn.stop("asked")

    async def close(self, grace_s: float) -> None:
        """Stop all turns and wait until they are stored and told, at most `grace_s`; then drop them."""
        self._closing = True
        for turn in self._turns.values():
            turn.stop("shutdown")
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=grace_s)
            for task in late:  # the sweep of another process, or of the next one, ends these turns
                task.cancel()

    def _ended(self, key: tuple[str, UUID], task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._turns.pop(key, None)
        if not task.cancelled() and (error := task.exception()) is not None:  # a defect; the sweep ends the turn
            _log.error("chat.turn_broke", turn=str(key[1]), exc_info=error)
