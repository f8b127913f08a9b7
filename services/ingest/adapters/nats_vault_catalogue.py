"""Settings of vaults in their bucket (ports `VaultCatalogue` and the watcher's settings store)."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import nats.js.errors
from nats.aio.client import Client
from nats.js.kv import KeyValue

from shared.bus import JETSTREAM_TIMEOUT_S, translated
from shared.contracts.files import VaultSettings
from shared.topology import Topology


class NatsVaultCatalogue:
    """Reads and writes the bucket of vaults; the client belongs to the caller."""

    def __init__(self, client: Client, topology: Topology) -> None:
        self._jetstream = client.jetstream(timeout=JETSTREAM_TIMEOUT_S)
        self._bucket = topology.vaults
        self._known: dict[str, VaultSettings] = {}

    async def settings(self, vault_id: str) -> VaultSettings:
        """Return the settings last seen; the bucket is asked only for a vault not seen yet (see `changes`)."""
        if vault_id not in self._known:
            self._known[vault_id] = await self._read(vault_id)
        return self._known[vault_id]

    async def put(self, settings: VaultSettings) -> None:
        """Publish a vault's settings; the same ones again change nothing."""
        bucket = await self._open()
        with translated("publishing a vault's settings"):
            try:
                entry = await bucket.get(settings.vault_id)
                if entry.value == settings.to_json():
                    return
            except nats.js.errors.KeyNotFoundError:
                pass
            await bucket.put(settings.vault_id, settings.to_json())

    async def changes(self) -> AsyncGenerator[VaultSettings]:
        """Yield settings as they are published, those there first; ends only by an error (Unavailable)."""
        bucket = await self._open()
        with translated("watching the vaults' settings"):
            watcher = await bucket.watchall()
            try:
                async for entry in watcher:
                    if entry is not None and entry.value:
                        settings = VaultSettings.model_validate_json(entry.value)
                        self._known[settings.vault_id] = settings
                        yield settings
            finally:
                await watcher.stop()

    async def _read(self, vault_id: str) -> VaultSettings:
        bucket = await self._open()
        with translated("reading a vault's settings"):
            try:
                entry = await bucket.get(vault_id)
            except nats.js.errors.KeyNotFoundError:
                return VaultSettings(vault_id=vault_id)
        return VaultSettings.model_validate_json(entry.value or b"{}")

    async def _open(self) -> KeyValue:
        with translated("opening the bucket of vaults"):
            return await self._jetstream.key_value(self._bucket)
