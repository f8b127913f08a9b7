"""Publishes page events and waiting texts to JetStream (port `Outbox`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nats.aio.client import Client

from shared.contracts.embed import ChunkText
from shared.contracts.pages import PageEmbedded, PageEvent
from shared.publishing import Outgoing, Publisher
from shared.topology import Topology

_MOST_GROWTH = 6
"""Bytes that one character may take in JSON: a control character as `\\u001b`."""

_ROOM_BYTES = 1024
"""Room in a message for all but the text."""


class NatsOutbox:
    """Durable when `publish` returns; the client belongs to the caller."""

    def __init__(self, client: Client, topology: Topology) -> None:
        self._client = client
        self._publisher = Publisher(client)
        self._topology = topology

    async def publish(self, events: Sequence[PageEvent], texts: Iterable[ChunkText]) -> None:
        """Publish all and wait for all acks."""
        carried = map(self._text, filter(self.carries, texts))
        await self._publisher.publish([*map(self._event, events), *carried])

    def carries(self, text: ChunkText) -> bool:
        """Say whether a text, with all its escapes, is within the limit that the server states."""
        limit = self._client.max_payload
        return len(text.text) < limit // _MOST_GROWTH - _ROOM_BYTES or len(text.to_json()) <= limit

    def _event(self, event: PageEvent) -> Outgoing:
        name = type(event).__name__.removeprefix("Page").lower()
        detail = event.space if isinstance(event, PageEmbedded) else ""
        headers = {"Nats-Msg-Id": f"{name}:{event.page_id}:{event.revision}:{detail}"}
        return Outgoing(self._topology.page(event.vault_id, name), event.to_json(), headers)

    def _text(self, text: ChunkText) -> Outgoing:
        return Outgoing(self._topology.chunk_text(text.space, text.text_hash), text.to_json())
