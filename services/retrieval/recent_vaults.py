"""What changes rarely about a vault, kept for a moment, so that a search need not ask for it.

Nothing kept here decides what is live or cited: that comes from the snapshot of each search.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.retrieval.ports import LivePages, VaultState, VaultTraits
from shared.errors import NotFound, Unavailable


@dataclass(frozen=True, slots=True)
class Vault:
    """A vault as it was at most about `max_age_s` ago."""

    state: VaultState
    space: str
    traits: VaultTraits
    alone: bool = False
    """No other vault exists, so that every vector is this one's."""


@dataclass(slots=True)
class _Kept:
    vault: Vault
    fresh_until_s: float


class RecentVaults:
    """Vaults by id: read when older than `max_age_s` [1 s], the slow part only when the data version changed.

    While one caller reads a vault again, others get the one that is kept. At most `max_vaults` are kept.
    """

    def __init__(
        self,
        pages: LivePages,
        hub_stems: Sequence[str],
        *,
        max_age_s: float = 1.0,
        max_vaults: int = 1000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pages = pages
        self._hub_stems = hub_stems
        self._max_age_s = max_age_s
        self._max_vaults = max_vaults
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    async def get(self, vault_id: str) -> Vault:
        """Return the vault. Raises NotFound when there is none, Unavailable when it can't be read or has no space."""
        kept = self._kept.get(vault_id)
        if kept is None:
            return self._keep(vault_id, await self._read(vault_id, None))
        self._kept.move_to_end(vault_id)
        if self._clock() < kept.fresh_until_s:
            return kept.vault
        return await self._renewed(vault_id, kept)

    async def _renewed(self, vault_id: str, kept: _Kept) -> Vault:
        kept.fresh_until_s = self._clock() + self._max_age_s
        try:
            return self._keep(vault_id, await self._read(vault_id, kept.vault))
        finally:
            if self._kept.get(vault_id) is kept:  # gone, unreadable, or out of time: the next caller reads anew
                del self._kept[vault_id]

    def _keep(self, vault_id: str, vault: Vault) -> Vault:
        self._kept[vault_id] = _Kept(vault, self._clock() + self._max_age_s)
        while len(self._kept) > self._max_vaults:
            self._kept.popitem(last=False)
        return vault

    async def _read(self, vault_id: str, last: Vault | None) -> Vault:
        found = await self._pages.vault(vault_id)
        if found is None:
            raise NotFound(f"There is no vault '{vault_id}'.")
        state, space, alone = found
        if space is None:
            raise Unavailable("There is no live embedding space yet: start the ingest service once.")
        if last is not None and last.state.data_version == state.data_version:
            return Vault(state, space, last.traits, alone)
        return Vault(state, space, await self._pages.traits(vault_id, self._hub_stems), alone)
