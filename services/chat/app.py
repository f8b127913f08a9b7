"""Puts the chat service together: the only place that builds its adapters."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

from nats.aio.client import Client
from nats.aio.msg import Msg

from services.chat.adapters.nats_cancels import NatsCancels
from services.chat.adapters.nats_search import NatsSearch
from services.chat.adapters.nats_turn_stream import NatsTurnStream
from services.chat.adapters.nats_wiki import NatsWiki
from services.chat.adapters.postgres.conversations import PostgresConversations
from services.chat.adapters.postgres.grounding import PostgresGrounding
from services.chat.adapters.postgres.scores import PostgresScores
from services.chat.adapters.postgres.shares import PostgresShares
from services.chat.adapters.postgres.thresholds import PostgresThresholds
from services.chat.adapters.postgres.turns import PostgresTurns
from services.chat.announcing import Announcer
from services.chat.answering import Answering, Judges
from services.chat.asking import Asking
from services.chat.asking_provider import Patience
from services.chat.conversation_handlers import ConversationHandlers, conversation_endpoints
from services.chat.conversing import Conversing, Effects
from services.chat.costs import PriceTable
from services.chat.ending import Endings
from services.chat.evidence import CalibratedGate
from services.chat.evidence_calibration import Calibrating
from services.chat.evidence_handlers import calibration_endpoints
from services.chat.faithfulness import Faithfulness
from services.chat.handlers import Handlers
from services.chat.ports import Prices, Providers
from services.chat.providers.configured import ConfiguredProviders
from services.chat.providers.extractive import ExtractiveProvider
from services.chat.providers.info import provider_info
from services.chat.providers.settings import ChatProviderSettings
from services.chat.running_turns import RunningTurns
from services.chat.sentence_ranking import SentenceRanker
from services.chat.settings import ChatSettings
from services.chat.support import OverlapSupport
from services.chat.upkeep import Upkeep, UpkeepTimes
from services.chat.wiki import SavingAnswers
from shared.bus import open_bus, translated
from shared.contracts.chat import ChatRequest
from shared.contracts.providers import PROVIDER_KEY, ProviderInfo
from shared.postgres.pool import Pool, open_pool
from shared.provision import provision_turns
from shared.scoring.build import build_scorer
from shared.scoring.scorer import PassageScorer
from shared.scoring.settings import ScoringSettings
from shared.service import Endpoint, serve
from shared.settings import ServiceSettings
from shared.topology import QUEUE_CHAT, SERVICE_CHAT, Topology
from shared.version import VERSION

_TOKEN_BYTES = 32
"""Of a share's token: 256 bits can't be guessed."""

_LONGER = 1.5

_ENVELOPE_BYTES = 16_384
"""What a reply takes besides its turns: the conversation's own record, headers, names of fields."""


@dataclass(frozen=True, slots=True)
class ChatParts:
    """What answers are made and judged with."""

    providers: Providers
    prices: Prices | None = None
    judges: Judges = field(default_factory=Judges)
    times: UpkeepTimes = field(default_factory=UpkeepTimes)
    about: ProviderInfo | None = None
    """What `$SRV.INFO` says of who answers."""
    ranker: SentenceRanker | None = None
    """What evidence is measured with; None: everything that is found is answered, unless `judges` knows better."""
    patience: Patience = field(default_factory=Patience)


@asynccontextmanager
async def chat_parts(
    providers: ChatProviderSettings,
    scorer: PassageScorer | None = None,
) -> AsyncGenerator[ChatParts]:
    """Yield what the settings name; the providers are closed at the end. Raises InvalidInput: the price table is wrong.

    `scorer` tells how well a sentence answers; the caller closes it. None: words are compared.
    """
    ranker = SentenceRanker(scorer)
    configured = ConfiguredProviders(providers, lambda: ExtractiveProvider(ranker))
    prices = PriceTable.load(providers.prices_file)
    try:
        about = provider_info(providers, prices)
        judges, patience = Judges(OverlapSupport()), _patience(providers)
        yield ChatParts(configured, prices, judges, about=about, ranker=ranker, patience=patience)
    finally:
        await configured.aclose()


def _patience(providers: ChatProviderSettings) -> Patience:
    """Return how long the engine waits: longer than the adapters, which know better what is wrong, if they tell it."""
    return Patience(_LONGER * providers.first_byte_timeout_s, _LONGER * providers.idle_timeout_s)


@asynccontextmanager
async def running_chat(
    client: Client, topology: Topology, pool: Pool, parts: ChatParts, settings: ChatSettings
) -> AsyncGenerator[None]:
    """Answer questions until the block ends; then end the turns that run. `pool` should be of the role citebus_chat."""
    store = PostgresTurns(pool)
    stream = NatsTurnStream(client, topology, lambda: provision_turns(client, topology))
    announcer = Announcer(store, stream)
    endings = Endings(store, announcer, parts.prices)
    search, thresholds = NatsSearch(client, topology), PostgresThresholds(pool)
    judges = build_judges(parts, thresholds)
    answering = Answering(search, stream, endings, judges, settings.bounds(parts.patience))
    running = RunningTurns(answering, settings.max_turns)
    asking = Asking(store, stream, PostgresGrounding(pool), parts.providers, running)
    handlers = Handlers(asking, running)
    upkeep = Upkeep(store, stream, announcer, running, parts.times)
    about = {} if parts.about is None else {PROVIDER_KEY: parts.about.model_dump_json(exclude_none=True)}
    endpoints = [
        Endpoint("chat", topology.chat("*"), ChatRequest, handlers.on_chat, QUEUE_CHAT, metadata=about),
        *conversation_endpoints(topology, build_conversations(client, topology, pool, parts.providers)),
        *calibration_endpoints(topology, Calibrating(search, parts.ranker or SentenceRanker(), thresholds)),
    ]
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(_upheld(upkeep))
        await stack.enter_async_context(_hearing_cancels(client, topology, handlers))
        stack.push_async_callback(running.close, settings.grace_s)
        service = serve(client, name=SERVICE_CHAT, version=VERSION, description="Cited answers", endpoints=endpoints)
        await stack.enter_async_context(service)
        yield


def build_judges(parts: ChatParts, thresholds: PostgresThresholds) -> Judges:
    """Return what judges texts, with the gate on evidence if there is something to measure it with."""
    if parts.ranker is None or parts.judges.evidence is not None:
        return parts.judges
    return replace(parts.judges, evidence=CalibratedGate(parts.ranker, thresholds))


def build_conversations(client: Client, topology: Topology, pool: Pool, providers: Providers) -> ConversationHandlers:
    """Return what answers requests about stored conversations."""
    store = PostgresConversations(pool)
    effects = Effects(NatsCancels(client, topology).cancel, lambda: secrets.token_urlsafe(_TOKEN_BYTES))
    return ConversationHandlers(
        Conversing(store, PostgresShares(pool), effects, client.max_payload - _ENVELOPE_BYTES),
        SavingAnswers(store, NatsWiki(client, topology)),
        Faithfulness(PostgresScores(pool), providers),
    )


@asynccontextmanager
async def running_alone(
    settings: ServiceSettings, chat: ChatSettings, providers: ChatProviderSettings, scoring: ScoringSettings
) -> AsyncGenerator[None]:
    """Open what the service needs as a process of its own, and answer until the block ends."""
    async with AsyncExitStack() as stack:
        scorer = build_scorer(scoring)
        if scorer is not None:
            stack.push_async_callback(scorer.aclose)
        parts = await stack.enter_async_context(chat_parts(providers, scorer))
        client = await stack.enter_async_context(open_bus(settings.nats_url, name="citebus-chat"))
        dsn = (chat.postgres_dsn or settings.postgres_dsn).get_secret_value()
        pool = await stack.enter_async_context(open_pool(dsn, max_size=chat.pool_size))
        await stack.enter_async_context(running_chat(client, settings.topology, pool, parts, chat))
        yield


@asynccontextmanager
async def _upheld(upkeep: Upkeep) -> AsyncGenerator[None]:
    task = asyncio.create_task(upkeep.run(), name="chat upkeep")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


@asynccontextmanager
async def _hearing_cancels(client: Client, topology: Topology, handlers: Handlers) -> AsyncGenerator[None]:
    async def on_cancel(message: Msg) -> None:
        _, vault_id, turn_id = message.subject.rsplit(".", 2)
        handlers.on_cancel(vault_id, turn_id)

    with translated("subscribing for cancels"):
        subscription = await client.subscribe(topology.cancel("*", "*"), cb=on_cancel)
    try:
        yield
    finally:
        if client.is_connected:
            with translated("unsubscribing from cancels"):
                await subscription.unsubscribe()
