"""Ends turns wherever they run, by their cancel subject."""

from __future__ import annotations

from uuid import UUID

from nats.aio.client import Client

from shared.bus import translated
from shared.contracts.chat import CancelRequest
from shared.topology import Topology


class NatsCancels:
    """Publishes cancels; the client belongs to the caller."""

    def __init__(self, client: Client, topology: Topology) -> None:
        self._client = client
        self._topology = topology

    async def cancel(self, vault_id: str, turn_id: UUID) -> None:
        """Ask for the turn's end. Raises Unavailable."""
        with translated("cancelling a turn"):
            await self._client.publish(self._topology.cancel(vault_id, str(turn_id)), CancelRequest().to_json())
