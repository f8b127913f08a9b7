"""Says how far a vault is (use case behind `ingest.status`)."""

from __future__ import annotations

from typing import Protocol

from services.ingest.ports import Ledger
from shared.contracts.ingest import SpaceStatus, StatusReply, StatusRequest
from shared.errors import NotFound
from shared.vectors.store import VectorStore


class Lags(Protocol):
    """How much is waiting on the bus."""

    async def lags(self) -> tuple[int, int]:
        """Return file changes not yet worked, and texts not yet embedded. Raises Unavailable."""
        ...


class Reporting:
    """Answers StatusRequest."""

    def __init__(self, ledger: Ledger, lags: Lags, store: VectorStore) -> None:
        self._ledger = ledger
        self._lags = lags
        self._store = store

    async def status(self, vault_id: str, request: StatusRequest) -> StatusReply:
        """Return counts, lags and sizes; lags are read first, so that a lag of 0 vouches for the counts."""
        files_lag, embed_lag = await self._lags.lags()
        status = await self._ledger.status(vault_id, request.rejected_limit)
        spaces = [await self._with_points(space) for space in status.spaces]
        return status.model_copy(update={"files_lag": files_lag, "embed_lag": embed_lag, "spaces": tuple(spaces)})

    async def _with_points(self, space: SpaceStatus) -> SpaceStatus:
        try:
            return space.model_copy(update={"points": await self._store.count(space.name)})
        except NotFound:
            return space
