"""The search, asked over the bus (`search.<vault>`), behind the port Search."""

from __future__ import annotations

from dataclasses import replace

from nats.aio.client import Client

from services.chat.adapters.nats_asking import Asked, ask
from shared.contracts.search import SearchReply, SearchRequest
from shared.topology import Topology

_GRACE_S = 1.0
"""What the way there and back may take beyond the search's own deadline."""

_RETRIEVAL = Asked("searching", "The retrieval service", "No retrieval service is there to search: start one.")


class NatsSearch:
    """Implements Search; the client belongs to the caller."""

    def __init__(self, client: Client, topology: Topology) -> None:
        self._client = client
        self._topology = topology

    async def search(self, vault_id: str, request: SearchRequest) -> SearchReply:
        """See Search.search."""
        subject = self._topology.search(vault_id)
        asked = replace(_RETRIEVAL, timeout_s=request.deadline_ms / 1000 + _GRACE_S)
        return await ask(self._client, subject, request, SearchReply, asked)
