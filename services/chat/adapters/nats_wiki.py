"""Saving pages, asked over the bus (`ingest.text.<vault>`; the vault's watcher answers), behind the port Wiki."""

from __future__ import annotations

from nats.aio.client import Client

from services.chat.adapters.nats_asking import Asked, ask
from shared.contracts.saving import SaveTextReply, SaveTextRequest
from shared.topology import Topology

_TIMEOUT_S = 35.0
"""Longer than the watcher's own limit."""

_WATCHER = Asked(
    "saving a page", "The watcher", "Nobody watches this vault, so no page can be written: start citebus.", _TIMEOUT_S
)


class NatsWiki:
    """Implements Wiki; the client belongs to the caller."""

    def __init__(self, client: Client, topology: Topology) -> None:
        self._client = client
        self._topology = topology

    async def save(self, vault_id: str, request: SaveTextRequest) -> SaveTextReply:
        """See Wiki.save."""
        subject = self._topology.ingest("text", vault_id)
        return await ask(self._client, subject, request, SaveTextReply, _WATCHER)
