"""Works pages again whose outcome depends on settings or code that changed since: exactly those, from the stream.

The stream FILES holds the newest content of every file, so nothing is read from the vault (DESIGN §4, invariant 7).
"""

from __future__ import annotations

import structlog

from services.ingest.indexing import Arrival, Indexer
from services.ingest.ports import FileHistory, Ledger
from services.ingest.revisions import current_epoch, revision
from services.ingest.text.fingerprint import config_hash
from shared.contracts.files import VaultSettings

_log = structlog.get_logger(__name__)

_BATCH = 64
"""Files worked at once."""


class Reworking:
    """Brings pages of a vault to its current settings."""

    def __init__(self, ledger: Ledger, history: FileHistory, indexer: Indexer) -> None:
        self._ledger = ledger
        self._history = history
        self._indexer = indexer

    async def rework(self, settings: VaultSettings) -> int:
        """Index again what was worked with another config; return how many files. Raises Unavailable.

        A file that the stream no longer holds (it was wiped) is left as it is: the watcher publishes it again.
        """
        config = config_hash(settings)
        epoch = await current_epoch(self._ledger, self._history)
        count, seen = 0, set[str]()
        while outdated := [
            key for key in await self._ledger.outdated(settings.vault_id, config, _BATCH + len(seen)) if key not in seen
        ]:
            arrivals = [await self._arrival(settings.vault_id, key, epoch) for key in outdated]
            present = [arrival for arrival in arrivals if arrival is not None]
            if present:
                await self._indexer.index(settings.vault_id, present)
            seen.update(outdated)
            count += len(present)
        if count:
            _log.info("reworking.done", vault=settings.vault_id, files=count)
        return count

    async def _arrival(self, vault_id: str, file_key: str, epoch: int) -> Arrival | None:
        found = await self._history.last(vault_id, file_key)
        if found is None:
            return None
        message, sequence = found
        return Arrival(message, revision(epoch, sequence))
