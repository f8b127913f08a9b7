"""Puts the ingest service together: the only place that builds its adapters."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import structlog
from nats.aio.client import Client

from services.ingest.adapters.nats_file_history import NatsFileHistory
from services.ingest.adapters.nats_file_log import NatsFileLog
from services.ingest.adapters.nats_lease import NatsLeaseStore
from services.ingest.adapters.nats_outbox import NatsOutbox
from services.ingest.adapters.nats_page_news import NatsLags, NatsPageNews
from services.ingest.adapters.nats_vault_catalogue import NatsVaultCatalogue
from services.ingest.adapters.postgres.embedding_ledger import PostgresEmbeddingLedger
from services.ingest.adapters.postgres.ledger import PostgresLedger
from services.ingest.adapters.postgres.point_source import PostgresPointSource
from services.ingest.embedding_stage import EmbeddingStage
from services.ingest.handlers import ChunkTexts, FileChanges
from services.ingest.indexing import Indexer
from services.ingest.reconciling import Reconciling
from services.ingest.reporting import Reporting
from services.ingest.reworking import Reworking
from services.ingest.settings import IngestSettings
from services.ingest.waiting import Waiting
from services.ingest.watcher.lease import Lease, Owner
from services.ingest.watcher.manifest import Manifest
from services.ingest.watcher.settings_file import read_settings
from services.ingest.watcher.watcher import Ports, Watcher, WatcherOptions
from shared.contracts.ingest import StatusRequest, SyncReply, SyncRequest, WaitRequest
from shared.delivery import Consumer, Delivery, Handler
from shared.embedding.embedder import Embedder, Space
from shared.errors import CitebusError
from shared.postgres.pool import Pool
from shared.provision import ACK_WAIT_S, provision_bus
from shared.service import Endpoint, serve
from shared.topology import CONSUMER_EMBEDDERS, CONSUMER_WORKERS, QUEUE_INGEST, Topology
from shared.vectors.bm25 import Bm25Encoder
from shared.vectors.store import VectorStore
from shared.version import VERSION

_log = structlog.get_logger(__name__)

_RETRY_S = 1.0
"""Pause before a background task that met an error goes on."""

_LEASE_PATIENCE_S = 15.0
"""How long the start waits for the vault's lease; that of a watcher that died runs out in 10 s."""


@dataclass(frozen=True, slots=True)
class Resources:
    """What the process opened and closes."""

    client: Client
    topology: Topology
    pool: Pool
    store: VectorStore
    embedder: Embedder
    space: Space


@asynccontextmanager
async def running_workers(resources: Resources, settings: IngestSettings) -> AsyncGenerator[None]:
    """Work file changes, and answer `ingest.status` and `ingest.wait`, until the block ends."""
    r = resources
    ledger = PostgresLedger(r.pool)
    history = NatsFileHistory(r.client, r.topology)
    catalogue = NatsVaultCatalogue(r.client, r.topology)
    bm25 = Bm25Encoder()
    indexer = Indexer(
        ledger=ledger,
        store=r.store,
        outbox=NatsOutbox(r.client, r.topology),
        catalogue=catalogue,
        bm25=bm25,
        space=r.space.name,
    )
    reworking = Reworking(ledger, history, indexer)
    reconciling = Reconciling(PostgresPointSource(r.pool), r.store, bm25, r.space)

    async def follow_settings() -> None:
        async for changed in catalogue.changes():
            await ledger.ensure_vault(changed)
            await reworking.rework(changed)

    async def reconcile() -> None:
        while True:
            await reconciling.reconcile()
            await asyncio.sleep(settings.sweep_s)

    consumer = Consumer(r.topology.files, CONSUMER_WORKERS, settings.file_batch, ACK_WAIT_S)
    files = [FileChanges(indexer, history, ledger).on_files for _ in range(settings.workers)]
    async with NatsPageNews.listening(r.client, r.topology) as news, asyncio.TaskGroup() as tasks:
        status = Reporting(ledger, NatsLags(r.client, r.topology), r.store).status
        wait = Waiting(ledger, news, r.space.name).wait
        endpoints = [
            Endpoint("status", r.topology.ingest("status", "*"), StatusRequest, status, QUEUE_INGEST),
            Endpoint("wait", r.topology.ingest("wait", "*"), WaitRequest, wait, QUEUE_INGEST),
        ]
        async with serve(
            r.client, name="citebus-ingest", version=VERSION, description="Files to chunks", endpoints=endpoints
        ):
            running = [tasks.create_task(_delivery(r, consumer, handler).run()) for handler in files]
            running.append(tasks.create_task(_persistently("settings", follow_settings)))
            running.append(tasks.create_task(_persistently("reconcile", reconcile)))
            yield
            for task in running:
                task.cancel()


@asynccontextmanager
async def running_embedders(resources: Resources, settings: IngestSettings) -> AsyncGenerator[None]:
    """Embed waiting texts until the block ends."""
    r = resources
    ledger = PostgresEmbeddingLedger(r.pool)
    stage = EmbeddingStage(
        ledger=ledger, store=r.store, embedder=r.embedder, outbox=NatsOutbox(r.client, r.topology), space=r.space.name
    )

    async def sweep() -> None:
        while True:
            await stage.requeue_missing()
            await ledger.prune(settings.keep_vectors_days)
            await asyncio.sleep(settings.sweep_s)

    consumer = Consumer(r.topology.embed, CONSUMER_EMBEDDERS, settings.text_batch, ACK_WAIT_S)
    async with asyncio.TaskGroup() as tasks:
        running = [
            tasks.create_task(_delivery(r, consumer, ChunkTexts(stage).on_chunk_texts).run())
            for _ in range(settings.embedders)
        ]
        running.append(tasks.create_task(_persistently("sweep", sweep)))
        yield
        for task in running:
            task.cancel()


@asynccontextmanager
async def running_watcher(
    client: Client, topology: Topology, folder: Path, state_dir: Path, options: WatcherOptions | None = None
) -> AsyncGenerator[Watcher]:
    """Watch one vault, and answer its `ingest.sync`, until the block ends; another watcher of it is waited for.

    Raises InvalidInput when the vault's settings file is wrong.
    """
    settings = read_settings(folder)
    ports = Ports(NatsFileLog(client, topology), NatsVaultCatalogue(client, topology))
    with Manifest(_made(state_dir) / f"{settings.vault_id}.sqlite3") as manifest:
        watcher = Watcher(folder, settings, manifest, ports, options or WatcherOptions())

        async def sync(_: str, request: SyncRequest) -> SyncReply:
            return await watcher.sync(full=request.full)

        subject = topology.ingest("sync", settings.vault_id)
        endpoints = [Endpoint("sync", subject, SyncRequest, sync, QUEUE_INGEST)]

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
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _delivery(r: Resources, consumer: Consumer, handler: Handler) -> Delivery:
    async def repair() -> None:
        await provision_bus(r.client, r.topology)

    return Delivery(r.client, r.topology, consumer, handler, repair)


async def _persistently(name: str, work: Callable[[], Awaitable[None]]) -> None:
    """Run a background task again whenever it meets an error that is expected."""
    while True:
        try:
            await work()
        except CitebusError as error:
            _log.warning("background.retry", task=name, error=str(error))
        await asyncio.sleep(_RETRY_S)
