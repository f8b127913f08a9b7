"""Puts the retrieval service together: the only place that builds its adapters."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from nats.aio.client import Client

from services.retrieval.adapters.postgres.chunk_contents import PostgresChunkContents
from services.retrieval.adapters.postgres.live_pages import PostgresLivePages
from services.retrieval.handlers import Handlers
from services.retrieval.profiles import Profiles, described, missing, retrievers
from services.retrieval.recent_vaults import RecentVaults
from services.retrieval.refining import QueryRewriter, Refiners
from services.retrieval.resolving import Resolve
from services.retrieval.searching import Search
from services.retrieval.settings import RetrievalSettings
from shared.bus import open_bus
from shared.contracts.profiles import PROFILES_KEY
from shared.contracts.search import ResolveRequest, SearchRequest
from shared.embedding.build import build_embedder
from shared.embedding.embedder import Embedder
from shared.embedding.settings import EmbeddingSettings
from shared.postgres.pool import Pool, open_pool
from shared.scoring.build import build_scorer
from shared.scoring.scorer import PassageScorer
from shared.scoring.settings import ScoringSettings
from shared.service import SLACK_S, Endpoint, serve
from shared.settings import ServiceSettings
from shared.topology import QUEUE_RETRIEVAL, SERVICE_RETRIEVAL, Topology
from shared.vectors.bm25 import Bm25Encoder
from shared.vectors.build import open_store
from shared.vectors.store import VectorStore
from shared.version import VERSION


@asynccontextmanager
async def running_retrieval(  # noqa: PLR0913, PLR0917  (one argument per resource that the process opened)
    client: Client,
    topology: Topology,
    pool: Pool,
    store: VectorStore,
    embedder: Embedder,
    settings: RetrievalSettings,
    scorer: PassageScorer | None = None,
) -> AsyncGenerator[None]:
    """Answer `search` and `resolve` until the block ends. `pool` should be of a role that can't write.

    Without a scorer, profiles that rerank are not ready. Raises InvalidInput when the default profile isn't.
    """
    pages = PostgresLivePages(pool)
    vaults = RecentVaults(pages, settings.hub_stems, max_age_s=settings.vault_max_age_s)
    async with AsyncExitStack() as stack:
        refiners = Refiners(PostgresChunkContents(pool), scorer, build_rewriter(settings))
        if refiners.rewriter is not None:
            stack.push_async_callback(refiners.rewriter.aclose)
        profiles, default = settings.all_profiles(), settings.default_profile
        ready = retrievers(profiles, store, embedder, Bm25Encoder(), refiners)
        named = Profiles(ready, default, missing(profiles, refiners))
        handlers = Handlers(Search(pages, vaults, named, settings.bounds()), Resolve(pages))
        shown = {PROFILES_KEY: described(profiles, refiners, default).model_dump_json()}
        subject = topology.search("*")
        endpoints = [
            Endpoint("search", subject, SearchRequest, handlers.on_search, QUEUE_RETRIEVAL, _limit_s, shown),
            Endpoint("resolve", topology.resolve("*"), ResolveRequest, handlers.on_resolve, QUEUE_RETRIEVAL),
        ]
        await stack.enter_async_context(
            serve(client, name=SERVICE_RETRIEVAL, version=VERSION, description="Cited passages", endpoints=endpoints)
        )
        yield


@asynccontextmanager
async def running_alone(
    settings: ServiceSettings, embedding: EmbeddingSettings, retrieval: RetrievalSettings, scoring: ScoringSettings
) -> AsyncGenerator[None]:
    """Open what the service needs as a process of its own, and answer until the block ends."""
    async with AsyncExitStack() as stack:
        embedder = build_embedder(embedding)
        stack.push_async_callback(embedder.aclose)
        scorer = build_scorer(scoring)
        if scorer is not None:
            stack.push_async_callback(scorer.aclose)
        client = await stack.enter_async_context(open_bus(settings.nats_url, name=SERVICE_RETRIEVAL))
        dsn = settings.postgres_dsn.get_secret_value()
        pool = await stack.enter_async_context(open_pool(dsn, max_size=retrieval.pool_size, read_only=True))
        store = await stack.enter_async_context(open_store(settings))
        await stack.enter_async_context(
            running_retrieval(client, settings.topology, pool, store, embedder, retrieval, scorer)
        )
        yield


def build_rewriter(settings: RetrievalSettings) -> QueryRewriter | None:
    """Return what says questions in other words; None when no provider is set."""
    if settings.rewriter_base_url is None or settings.rewriter_model is None:
        return None
    from services.retrieval.adapters.openai_query_rewriter import OpenAIQueryRewriter  # noqa: PLC0415  (loads httpx)
    from shared.http_provider import HttpAddress  # noqa: PLC0415

    key = settings.rewriter_api_key.get_secret_value() if settings.rewriter_api_key else ""
    prefix = "CITEBUS_RETRIEVAL_REWRITER_"
    address = HttpAddress("rewording provider", str(settings.rewriter_base_url), prefix, key)
    return OpenAIQueryRewriter(settings.rewriter_model, address)


def _limit_s(request: SearchRequest) -> float:
    return request.deadline_ms / 1000 + SLACK_S
