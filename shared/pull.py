"""Pulls messages from a durable JetStream consumer as soon as they come, in batches of what has come.

nats-py's own `fetch(n)` waits for n messages or its timeout even when one has arrived; freshness can't wait. This
speaks the pull protocol itself (ADR-13 and ADR-37 of NATS): one request for up to `batch` messages stays with the
server; whatever arrives while a batch is worked is the next batch. A lost server is noticed by missing heartbeats.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from typing import Self

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from shared.bus import translated
from shared.errors import NotFound

_EXPIRES_S = 30.0
"""How long a request stays with the server: long, an idle consumer should cost nothing."""

_HEARTBEAT_S = 1.0
"""How often an idle server says that it still knows the request."""

_SILENCE_S = 2.5
"""Without message or heartbeat for so long the request is taken for lost (the server was restarted) and repeated."""

_STATUS = "Status"


class Pull:
    """One consumer's messages. Use as an async context manager; one task calls `next_batch`."""

    def __init__(self, client: Client, *, stream: str, consumer: str, batch: int) -> None:
        self._client = client
        self._request_subject = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"
        self._consumer = consumer
        self._batch = batch
        self._arrived: deque[Msg] = deque()
        self._wake = asyncio.Event()
        self._wanted = 0
        self._lost: str | None = None
        self._heard = time.monotonic()
        self._inbox = ""
        self._subscription: Subscription | None = None

    async def __aenter__(self) -> Self:
        self._inbox = self._client.new_inbox()
        with translated(f"subscribing for {self._consumer}"):
            self._subscription = await self._client.subscribe(
                self._inbox, cb=self._on_message, pending_bytes_limit=-1, pending_msgs_limit=-1
            )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._subscription is None or not self._client.is_connected:
            return
        with translated(f"unsubscribing {self._consumer}"):
            await self._subscription.unsubscribe()
            for message in self._arrived:  # another worker may have them at once
                await message.nak()

    @property
    def waiting(self) -> list[Msg]:
        """Messages that have come and are not part of a batch yet; the server counts their time to ack."""
        return list(self._arrived)

    async def next_batch(self) -> list[Msg]:
        """Return 1 to `batch` messages, waiting for the first. Raises NotFound (the consumer is gone), Unavailable."""
        while not self._arrived:
            await self._ask()
            self._wake.clear()
            try:
                async with asyncio.timeout(_HEARTBEAT_S):
                    await self._wake.wait()
            except TimeoutError:
                self._forget_lost_request()
            if self._lost is not None:
                reason, self._lost = self._lost, None
                raise NotFound(f"The consumer {self._consumer} is gone: {reason}")
        await asyncio.sleep(0)  # let what is already in the socket's buffer arrive: fuller batches, no delay
        count = min(self._batch, len(self._arrived))
        batch = [self._arrived.popleft() for _ in range(count)]
        await self._ask()
        return batch

    async def _ask(self) -> None:
        room = self._batch - len(self._arrived)
        if self._wanted > self._batch // 2 or room <= self._wanted:
            return
        request = {
            "batch": room - self._wanted,
            "expires": int(_EXPIRES_S * 1e9),
            "idle_heartbeat": int(_HEARTBEAT_S * 1e9),
        }
        self._wanted = room
        with translated(f"asking for messages of {self._consumer}"):
            await self._client.publish(self._request_subject, json.dumps(request).encode(), reply=self._inbox)

    async def _on_message(self, message: Msg) -> None:
        self._heard = time.monotonic()
        status = (message.headers or {}).get(_STATUS)
        if status is None or message.data:
            self._wanted = max(0, self._wanted - 1)
            self._arrived.append(message)
        elif status != "100":
            self._on_status(status, message)
        else:
            return
        self._wake.set()

    def _on_status(self, status: str, message: Msg) -> None:
        headers = message.headers or {}
        description = headers.get("Description", "")
        left = headers.get("Nats-Pending-Messages")
        self._wanted = max(0, self._wanted - int(left)) if left is not None else 0
        if status in ("404", "408") or (status == "409" and "Deleted" not in description):
            return
        self._lost = f"{status} {description}".strip()

    def _forget_lost_request(self) -> None:
        if time.monotonic() - self._heard > _SILENCE_S:
            self._wanted = 0
            self._heard = time.monotonic()
