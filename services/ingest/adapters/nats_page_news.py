"""Page events as they pass, to wake those who wait (port `PageNews`), and how much is waiting (port `Lags`)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import nats.js.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from shared.bus import JETSTREAM_TIMEOUT_S, translated
from shared.topology import CONSUMER_EMBEDDERS, CONSUMER_WORKERS, Topology


class NatsPageNews:
    """Wakes every waiter of a vault at each of its page events; one that passes unseen is the caller's to expect."""

    def __init__(self) -> None:
        self._events: dict[str, asyncio.Event] = {}

    @classmethod
    @asynccontextmanager
    async def listening(cls, client: Client, topology: Topology) -> AsyncGenerator[NatsPageNews]:
        """Subscribe until the block ends."""
        news = cls()
        with translated("listening to page events"):
            subscription = await client.subscribe(topology.page("*", "*"), cb=news._on_event)
        try:
            yield news
        finally:
            if client.is_connected:
                await subscription.unsubscribe()

    async def next(self, vault_id: str, timeout_s: float) -> None:
        """Return at the vault's next page event, or after the timeout."""
        event = self._events.setdefault(vault_id, asyncio.Event())
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await event.wait()

    async def _on_event(self, message: Msg) -> None:
        event = self._events.pop(message.subject.split(".")[-2], None)
        if event is not None:
            event.set()


class NatsLags:
    """Messages that consumers have not acked."""

    def __init__(self, client: Client, topology: Topology) -> None:
        self._jetstream = client.jetstream(timeout=JETSTREAM_TIMEOUT_S)
        self._topology = topology

    async def lags(self) -> tuple[int, int]:
        """Return file changes not yet worked and texts not yet embedded, of all vaults."""
        return (
            await self._lag(self._topology.files, CONSUMER_WORKERS),
            await self._lag(self._topology.embed, CONSUMER_EMBEDDERS),
        )

    async def _lag(self, stream: str, consumer: str) -> int:
        with translated("asking for a consumer's lag"):
            try:
                info = await self._jetstream.consumer_info(stream, consumer)
            except nats.js.errors.NotFoundError:
                return 0
        return (info.num_pending or 0) + (info.num_ack_pending or 0)
