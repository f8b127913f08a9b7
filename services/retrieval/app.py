"""Puts the retrieval service together: the only place that builds its adapters."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from nats.aio.client import Client

from services.retrieval.adapters.postgres.live_pages import PostgresLivePages
from services.retrieval.handlers import Handlers
from services.retrieval.profiles import Profiles, retrievers
from services.retrieval.recent_vaults import RecentVaults
from services.retrieval.resolving import Resolve
from services.retrieval.searching import Search
from services.retrieval.settings import RetrievalSettings
from shared.bus import open_bus
from shared.contracts.search import ResolveRequest, SearchRequest
from shared.embedding.build import build_embedder
from shared.embedding.embedder import Embedder
from shared.embedding.settings import EmbeddingSettings
from shared.postgres.pool import Pool, open_pool
from shared.service import SLACK_S, Endpoint, serve
from shared.settings import ServiceSettings
from shared.topology import QUEUE_RETRIEVAL, Topology
from shared.vectors.bm25 import Bm25Encoder
from shared.vectors.build import open_store
from shared.vectors.store import VectorStore
from shared.version import VERSION


@asynccontextmanager
async def running_retrieval(  # noqa: PLR0913, PLR0917  (one argument per resource that the process opened)
    client: Client, topology: Topology, pool: Pool, store: VectorStore, embedder: Embedder, settings: RetrievalSettings
) -> AsyncGenerator[None]:
    """Answer `search` and `resolve` until the block ends. `pool` should be of a role that can't write."""
    pages = PostgresLivePages(pool)
    vaults = RecentVaults(pages, settings.hub_stems, max_age_s=settings.vault_max_age_s)
    profiles = Profiles(
        retrievers(settings.all_profiles(), store, embedder, Bm25Encoder()), default=settings.default_profile
    )
    handlers = Handlers(Search(pages, vaults, profiles, settings.bounds()), Resolve(pages))
    endpoints = [
        Endpoint("search", topology.search("*"), SearchRequest, handlers.on_search, QUEUE_RETRIEVAL, _limit_s),
        Endpoint("resolve", topology.resolve("*"), ResolveRequest, handlers.on_resolve, QUEUE_RETRIEVAL),
    ]
    async with serve(
        client, name="citebus-retrieval", version=VERSION, description="Cited passages", endpoints=endpoints
    ):
        yield


@asynccontextmanager
async def running_alone(
    settings: ServiceSettings, embedding: EmbeddingSettings, retrieval: RetrievalSettings
) -> AsyncGenerator[None]:
    """Open what the service needs as a process of its own, and answer until the block ends."""
    async with AsyncExitStack() as stack:
        embedder = build_embedder(embedding)
        stack.push_async_callback(embedder.aclose)
        client = await stack.enter_async_context(open_bus(settings.nats_url, name="citebus-retrieval"))
        dsn = settings.postgres_dsn.get_secret_value()
        pool = await stack.enter_async_context(open_pool(dsn, max_size=retrieval.pool_size, read_only=True))
        store = await stack.enter_async_context(open_store(settings))
        await stack.enter_async_context(running_retrieval(client, settings.topology, pool, store, embedder, retrieval))
        yield


def _limit_s(request: SearchRequest) -> float:
    return request.deadline_ms / 1000 + SLACK_S
