"""Puts a watcher together: the only place that builds its adapters."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from nats.aio.client import Client

from services.ingest.adapters.nats_file_log import NatsFileLog
from services.ingest.adapters.nats_lease import NatsLeaseStore
from services.ingest.adapters.nats_vault_catalogue import NatsVaultCatalogue
from services.ingest.watcher.lease import Lease, Owner
from services.ingest.watcher.manifest import Manifest
from services.ingest.watcher.saving import Saving
from services.ingest.watcher.settings_file import read_settings
from services.ingest.watcher.watcher import Ports, Watcher, WatcherOptions
from shared.contracts.ingest import SyncReply, SyncRequest
from shared.contracts.saving import SaveTextRequest
from shared.service import Endpoint, serve
from shared.topology import QUEUE_INGEST, Topology
from shared.version import VERSION

_LEASE_PATIENCE_S = 15.0
"""How long the start waits for the vault's lease; that of a watcher that died runs out in 10 s."""

_SAVE_S = 30.0
"""Longest work on saving a page: a slow disk, others before it."""


@asynccontextmanager
async def running_watcher(
    client: Client, topology: Topology, folder: Path, state_dir: Path, options: WatcherOptions | None = None
) -> AsyncGenerator[Watcher]:
    """Watch one vault, and answer its `ingest.sync` and `ingest.text`, until the block ends.

    Another watcher of it is waited for. Raises InvalidInput when the vault's settings file is wrong.
    """
    settings = read_settings(folder)
    ports = Ports(NatsFileLog(client, topology), NatsVaultCatalogue(client, topology))
    with Manifest(_made(state_dir) / f"{settings.vault_id}.sqlite3") as manifest:
        watcher = Watcher(folder, settings, manifest, ports, options or WatcherOptions())

        async def sync(_: str, request: SyncRequest) -> SyncReply:
            return await watcher.sync(full=request.full)

        saving = Saving(watcher, lambda: datetime.now(UTC))
        sync_at, text_at = (topology.ingest(operation, settings.vault_id) for operation in ("sync", "text"))
        endpoints = [
            Endpoint("sync", sync_at, SyncRequest, sync, QUEUE_INGEST, limit_s=lambda _: None),
            Endpoint("text", text_at, SaveTextRequest, saving.save, QUEUE_INGEST, limit_s=lambda _: _SAVE_S),
        ]
        serving = asyncio.Event()

        async def work() -> None:
            async with serve(
                client, name="citebus-watcher", version=VERSION, description="Files to events", endpoints=endpoints
            ):
                serving.set()
                await watcher.run()

        lease = Lease(NatsLeaseStore(client, topology), settings.vault_id, Owner())
        async with asyncio.TaskGroup() as tasks:
            holding = tasks.create_task(lease.hold(work))
            with suppress(TimeoutError):  # another watcher has the vault: this one stands by
                async with asyncio.timeout(_LEASE_PATIENCE_S):
                    await serving.wait()
            yield watcher
            holding.cancel()


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # a manifest tells every file's name
    return folder
