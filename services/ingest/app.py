"""Puts worker and embedder together: the only place that builds their adapters."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import structlog
from nats.aio.client import Client

from services.ingest.adapters.nats_file_history import NatsFileHistory
from services.ingest.adapters.nats_outbox import NatsOutbox
from services.ingest.adapters.nats_page_news import NatsLags, NatsPageNews
from services.ingest.adapters.nats_vault_catalogue import NatsVaultCatalogue
from services.ingest.adapters.postgres.edges import PostgresEdges
from services.ingest.adapters.postgres.embedding_ledger import PostgresEmbeddingLedger
from services.ingest.adapters.postgres.ledger import PostgresLedger
from services.ingest.adapters.postgres.point_source import PostgresPointSource
from services.ingest.edge_keeping import EdgeKeeper
from services.ingest.embedding_stage import EmbeddingStage
from services.ingest.handlers import ChunkTexts, FileChanges
from services.ingest.indexing import Indexer
from services.ingest.preparing import Preparing
from services.ingest.reconciling import Reconciling
from services.ingest.reporting import Reporting
from services.ingest.reworking import Reworking
from services.ingest.settings import IngestSettings
from services.ingest.text.chunking import CHUNKER_VERSION
from services.ingest.waiting import Waiting
from shared.cancelling import end_if_cancelled
from shared.contracts.ingest import StatusRequest, WaitRequest
from shared.delivery import Consumer, Delivery, Handler
from shared.embedding.build import build_embedder
from shared.embedding.embedder import Embedder, Space
from shared.embedding.settings import EmbeddingSettings
from shared.errors import CitebusError
from shared.postgres.pool import Pool, open_pool
from shared.process import patiently
from shared.provision import ACK_WAIT_S, check_space, provision_bus
from shared.service import SLACK_S, Endpoint, serve
from shared.settings import ServiceSettings
from shared.topology import CONSUMER_EMBEDDERS, CONSUMER_WORKERS, QUEUE_INGEST, Topology
from shared.vectors.bm25 import Bm25Encoder
from shared.vectors.build import open_store
from shared.vectors.store import VectorStore
from shared.version import VERSION

_log = structlog.get_logger(__name__)

_RETRY_S = 1.0
"""Pause before a background task that met an error goes on."""

POOL_SIZE = 8
"""Connections to Postgres: one per batch at work, and some for requests and sweeps."""


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
async def open_resources(
    client: Client, settings: ServiceSettings, embedding: EmbeddingSettings
) -> AsyncGenerator[Resources]:
    """Open what worker and embedder need, once Postgres is there. Raises SpaceMismatch and NotFound: don't start."""
    async with AsyncExitStack() as stack:
        embedder = build_embedder(embedding)
        stack.push_async_callback(embedder.aclose)
        space = Space(embedder.model, embedder.dimension, CHUNKER_VERSION)
        pool = await stack.enter_async_context(open_pool(settings.postgres_dsn.get_secret_value(), max_size=POOL_SIZE))
        await patiently("the live space", lambda: check_space(pool, space))
        store = await stack.enter_async_context(open_store(settings))
        yield Resources(client, settings.topology, pool, store, embedder, space)


@asynccontextmanager
async def running_workers(resources: Resources, settings: IngestSettings) -> AsyncGenerator[None]:
    """Work file changes, and answer `ingest.status` and `ingest.wait`, until the block ends."""
    r = resources
    keeper = EdgeKeeper(PostgresEdges(r.pool, settings.edge_rules()), settings.edge_pace())
    ledger, history = PostgresLedger(r.pool, keeper.wake), NatsFileHistory(r.client, r.topology)
    catalogue, bm25, prepared = NatsVaultCatalogue(r.client, r.topology), Bm25Encoder(), Preparing(settings.pool())
    indexer = Indexer(
        ledger=ledger,
        store=r.store,
        outbox=NatsOutbox(r.client, r.topology),
        catalogue=catalogue,
        preparing=prepared,
        bm25=bm25,
        space=r.space.name,
    )
    reworking = Reworking(ledger, history, indexer)
    reconciling = Reconciling(PostgresPointSource(r.pool), r.store, bm25, r.space)

    async def follow_settings() -> None:
        async for changed in catalogue.changes():
            await ledger.ensure_vault(changed)
            await reworking.rework(changed)
            end_if_cancelled()

    consumer = Consumer(r.topology.files, CONSUMER_WORKERS, settings.file_batch, ACK_WAIT_S)
    handlers = [FileChanges(indexer, history, ledger).on_files for _ in range(settings.workers)]
    async with _answering(r, ledger), asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(_delivery(r, consumer, handler).run()) for handler in handlers]
        running.append(tasks.create_task(_persistently("settings", follow_settings)))
        running.append(tasks.create_task(_persistently("reconcile", reconciling.reconcile, settings.sweep_s)))
        running.append(tasks.create_task(_persistently("edges", keeper.run)))
        prepared.begin()
        try:
            yield
        finally:
            prepared.end()
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
        _, waiting = await NatsLags(r.client, r.topology).lags()
        if not waiting:  # else they are only late, or the provider asked to wait: queued anew they would not
            await stage.requeue_missing()
        await ledger.prune(settings.keep_vectors_days)

    consumer = Consumer(r.topology.embed, CONSUMER_EMBEDDERS, settings.text_batch, ACK_WAIT_S)
    async with asyncio.TaskGroup() as tasks:
        running = [
            tasks.create_task(_delivery(r, consumer, ChunkTexts(stage).on_chunk_texts).run())
            for _ in range(settings.embedders)
        ]
        running.append(tasks.create_task(_persistently("sweep", sweep, settings.sweep_s)))
        yield
        for task in running:
            task.cancel()


@asynccontextmanager
async def _answering(r: Resources, ledger: PostgresLedger) -> AsyncGenerator[None]:
    async with NatsPageNews.listening(r.client, r.topology) as news:
        status = Reporting(ledger, NatsLags(r.client, r.topology), r.store).status
        wait = Waiting(ledger, news, r.space.name).wait
        endpoints = [
            Endpoint("status", r.topology.ingest("status", "*"), StatusRequest, status, QUEUE_INGEST),
            Endpoint("wait", r.topology.ingest("wait", "*"), WaitRequest, wait, QUEUE_INGEST, _limit_s),
        ]
        async with serve(
            r.client, name="citebus-ingest", version=VERSION, description="Files to chunks", endpoints=endpoints
        ):
            yield


def _limit_s(request: WaitRequest) -> float:
    return request.timeout_ms / 1000 + SLACK_S


def _delivery(r: Resources, consumer: Consumer, handler: Handler) -> Delivery:
    async def repair() -> None:
        await provision_bus(r.client, r.topology)

    return Delivery(r.client, r.topology, consumer, handler, repair)


async def _persistently(name: str, work: Callable[[], Awaitable[object]], every_s: float = _RETRY_S) -> None:
    """Repeat a background task; one that meets an error that is expected is soon tried again."""
    while True:
        try:
            await work()
        except CitebusError as error:
            _log.warning("background.retry", task=name, error=str(error))
            pause_s = _RETRY_S
        else:
            pause_s = every_s
        end_if_cancelled()
        await asyncio.sleep(pause_s)
