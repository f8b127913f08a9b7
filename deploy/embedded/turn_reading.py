"""Reads the events of one turn from the stream TURNS: live, in order, each once, whatever happens to the connection.

Where nothing is heard for a while, the turn is read again from its first event and what is known is skipped: a server
that restarted has made its streams in memory anew, and a consumer of the old one would wait for ever. The end of a turn
counts whatever its number: who ends a turn for a process that died knows only what that process had stored.
"""

from __future__ import annotations

import asyncio

import nats.errors
import structlog
from nats.aio.msg import Msg
from pydantic import ValidationError

from deploy.embedded.bus_requests import Streams, Subscription
from shared.contracts.chat import AnyTurnEvent, TurnEnd, turn_event
from shared.errors import CitebusError

_log = structlog.get_logger(__name__)

QUIET_S = 5.0
"""Silence after which the turn is read anew: longer than the pauses of a model amid its answer."""

AGAIN_S = 0.25
"""Pause between tries to subscribe, as between tries to reach the server."""


class TurnReader:
    """Reads one turn; use it as an async context manager, in one task."""

    def __init__(self, streams: Streams, stream: str, subject: str, *, quiet_s: float = QUIET_S) -> None:
        self._streams, self._stream, self._subject = streams, stream, subject
        self._quiet_s = quiet_s
        self._arrived: asyncio.Queue[bytes] = asyncio.Queue()
        self._subscription: Subscription | None = None
        self._seen = 0

    async def __aenter__(self) -> TurnReader:
        """Begin to listen, if the stream is there already; else `next` does."""
        await self._subscribe()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Hear nothing more."""
        await self._unsubscribe()

    async def next(self) -> AnyTurnEvent:
        """Return the next event, as long as it may take; numbers that the stream has lost are left out.

        Raises CitebusError for what is no event.
        """
        while True:
            try:
                async with asyncio.timeout(self._quiet_s if self._subscription else AGAIN_S):
                    data = await self._arrived.get()
            except TimeoutError:
                await self._unsubscribe()
                await self._subscribe()
                continue
            event = _event(data)
            if event.seq > self._seen or isinstance(event, TurnEnd):
                self._seen = event.seq
                return event

    async def _subscribe(self) -> None:
        async def on_event(message: Msg) -> None:
            self._arrived.put_nowait(message.data)

        try:
            self._subscription = await self._streams.subscribe(
                self._subject, stream=self._stream, ordered_consumer=True, cb=on_event
            )
        except (nats.errors.Error, OSError, TimeoutError) as error:  # no connection, or no stream yet
            _log.debug("turn.not_subscribed", subject=self._subject, error=str(error) or type(error).__name__)

    async def _unsubscribe(self) -> None:
        subscription, self._subscription = self._subscription, None
        if subscription is None:
            return
        try:
            await subscription.unsubscribe()
        except (nats.errors.Error, OSError) as error:  # the connection is gone, and the subscription with it
            _log.debug("turn.not_unsubscribed", subject=self._subject, error=str(error) or type(error).__name__)


def _event(data: bytes) -> AnyTurnEvent:
    try:
        return turn_event(data)
    except ValidationError as error:
        raise CitebusError("the turn holds an event of another version: restart the stack") from error
