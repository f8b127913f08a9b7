"""Publishes page events and waiting texts to JetStream (port `Outbox`)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import nats.errors
import nats.js.errors
from nats.aio.client import Client
from nats.js.api import PubAck

from shared.bus import JETSTREAM_TIMEOUT_S, translated
from shared.contracts.embed import ChunkText
from shared.contracts.pages import PageEmbedded, PageEvent
from shared.errors import Unavailable
from shared.topology import Topology

_IN_FLIGHT = 1024
"""Publishes that wait for their ack at once."""


class NatsOutbox:
    """Durable when `publish` returns; the client belongs to the caller."""

    def __init__(self, client: Client, topology: Topology) -> None:
        self._jetstream = client.jetstream(timeout=JETSTREAM_TIMEOUT_S, publish_async_max_pending=_IN_FLIGHT)
        self._topology = topology

    async def publish(self, events: Sequence[PageEvent], texts: Iterable[ChunkText]) -> None:
        """Publish all and wait for all acks."""
        with translated("publishing page events"):
            acks = [await self._event(event) for event in events]
            acks += [await self._text(text) for text in texts]
            if not acks:
                return
            _, late = await asyncio.wait(acks, timeout=JETSTREAM_TIMEOUT_S)
        for ack in late:
            ack.cancel()
        if late:
            raise Unavailable(f"{len(late)} of {len(acks)} messages were not acknowledged by the bus in time.")
        for ack in acks:
            _check(ack)

    async def _event(self, event: PageEvent) -> asyncio.Future[PubAck]:
        name = type(event).__name__.removeprefix("Page").lower()
        detail = event.space if isinstance(event, PageEmbedded) else ""
        headers = {"Nats-Msg-Id": f"{name}:{event.page_id}:{event.revision}:{detail}"}
        subject = self._topology.page(event.vault_id, name)
        return await self._jetstream.publish_async(subject, event.to_json(), headers=headers)

    async def _text(self, text: ChunkText) -> asyncio.Future[PubAck]:
        subject = self._topology.chunk_text(text.space, text.text_hash)
        return await self._jetstream.publish_async(subject, text.to_json())


def _check(ack: asyncio.Future[PubAck]) -> None:
    error = ack.exception()
    if isinstance(error, (nats.errors.Error, nats.js.errors.Error)):
        raise Unavailable(f"The bus refused a message: {error}") from error
    if error is not None:
        raise error
