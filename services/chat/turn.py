"""A turn while it runs: what was asked, with what it is answered, and the way to stop it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from services.chat.ports import BegunTurn
from services.chat.provider import ChatProvider
from shared.contracts.chat import ChatRequest
from shared.contracts.stored_turns import StoredMessage

StopReason = Literal["asked", "deadline", "shutdown"]


@dataclass(slots=True)
class Turn:
    """One turn. Everything but the way to stop it is fixed from the start."""

    begun: BegunTurn
    request: ChatRequest
    question: str
    """Cleaned."""
    provider: ChatProvider
    grounding: Sequence[str]
    started: float
    """On the engine's clock."""
    stopped: StopReason | None = None
    """Why the work was broken off; None: it was not."""
    _scope: asyncio.Timeout | None = field(default=None)
    _reason: StopReason | None = field(default=None)

    def stop(self, reason: StopReason) -> None:
        """End the work on the turn as soon as it waits for something; the first reason counts."""
        self._reason = self._reason or reason
        if self._scope is not None and not self._scope.expired():
            self._scope.reschedule(asyncio.get_running_loop().time())

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Work within it: it is broken off when the turn is stopped or its deadline is over; then `stopped` says so."""
        limit_s = 0.0 if self._reason is not None else self.request.deadline_ms / 1000
        try:
            async with asyncio.timeout(limit_s) as scope:
                self._scope = scope
                yield
        except TimeoutError:
            if self._scope is None or not self._scope.expired():
                raise
            self._reason = self._reason or "deadline"
            self.stopped = self._reason
        finally:
            self._scope = None

    def unanswered(self) -> StoredMessage:
        """Return the answer's message as it stands while nothing is stored of it."""
        return StoredMessage(
            message_id=self.begun.message_id,
            turn_id=self.begun.turn_id,
            role="assistant",
            text="",
            state="streaming",
            created_at=datetime.now(UTC),
        )
