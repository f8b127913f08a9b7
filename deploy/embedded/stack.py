"""The whole of citebus on one machine: two servers as children, the vector engine and all services in this process.

Started in this order, stopped in the reverse one: data folder, NATS and Postgres, what they must hold, the vector
engine, retrieval, chat, embedders, workers, one watcher per vault. What runs where is written down in the data folder,
so that other commands find it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from deploy.embedded.known_vaults import remember_vaults
from deploy.embedded.lock import hold
from deploy.embedded.nats_server import NatsServer
from deploy.embedded.postgres_server import PostgresServer
from deploy.embedded.processes import start_mark
from deploy.embedded.provider_text import provider_text
from deploy.embedded.stack_types import StackOptions, StackPart
from deploy.embedded.state import DataFolder, RunningStack, RunningVault, forget_running_stack, write_running_stack
from deploy.embedded.supervised import Supervised
from services.chat.app import chat_parts, running_chat
from services.chat.providers.settings import ChatProviderSettings
from services.chat.settings import ChatSettings
from services.ingest.adapters.postgres.ledger import PostgresLedger
from services.ingest.app import POOL_SIZE, Resources, running_embedders, running_workers
from services.ingest.settings import IngestSettings
from services.ingest.text.chunking import CHUNKER_VERSION
from services.ingest.watcher.app import running_watcher
from services.ingest.watcher.settings_file import read_settings
from services.retrieval.app import running_retrieval
from services.retrieval.settings import RetrievalSettings
from shared.bus import open_bus
from shared.contracts.providers import ProviderInfo
from shared.embedding.build import build_embedder
from shared.embedding.embedder import Space
from shared.embedding.settings import EmbeddingSettings
from shared.errors import CitebusError, InvalidInput
from shared.postgres.pool import open_pool
from shared.postgres.roles import CHAT_ROLE, READER_ROLE, ChatRole, ReaderRole
from shared.provision import provision_bus, provision_database, provision_space
from shared.scoring.build import build_scorer
from shared.scoring.scorer import PassageScorer
from shared.scoring.settings import ScoringSettings
from shared.settings import settings_from_environment
from shared.topology import Topology
from shared.vectors.edge_process import EdgeProcessStore
from shared.version import VERSION

_START_TIMEOUT_S = 30.0
"""What connecting to the servers just started may take."""


@dataclass(frozen=True, slots=True)
class EmbeddedStack:
    """A running stack; see deploy.embedded.stack_types.OpenedStack."""

    nats_url: str
    vaults: Mapping[str, Path]
    parts: Sequence[StackPart]
    servers: tuple[Supervised, Supervised]

    async def wait(self) -> None:
        """Return never while all is well; raise Unavailable when a server was given up."""
        await asyncio.gather(*(server.wait() for server in self.servers))


@asynccontextmanager
async def open_stack(options: StackOptions) -> AsyncGenerator[EmbeddedStack]:
    """Start everything, and stop it in order at the end; nothing is left running when the start fails.

    Raises InvalidInput (the data folder is in use, a vault is no folder, two vaults bear one id), SpaceMismatch,
    Unavailable; of several at once the first, and never in a group.
    """
    vaults = _vault_ids(options.vaults)
    data = DataFolder.create(options.data_dir)
    async with AsyncExitStack() as stack:
        stack.enter_context(_first_error())
        stack.enter_context(hold(data))
        nats, postgres = NatsServer(data), PostgresServer(data)
        servers = Supervised(nats), Supervised(postgres)
        await _start_both(stack, servers)
        resources = await _open_resources(stack, data, nats, postgres)
        about = await _start_services(stack, data, resources, postgres, vaults)
        remember_vaults(data.root, vaults)
        _write_down(stack, data, nats, postgres, vaults)
        yield EmbeddedStack(
            nats.url, vaults, (*_parts(data, nats, servers, resources.space), _chat_part(about)), servers
        )


@contextmanager
def _first_error() -> Generator[None]:
    """Raise the first of a group of errors of citebus; a group that holds a defect stays whole."""
    try:
        yield
    except ExceptionGroup as group:
        known, defects = group.split(CitebusError)
        if known is None or defects is not None:
            raise
        first: Exception = known
        while isinstance(first, ExceptionGroup):
            first = first.exceptions[0]
        raise first from group


async def _start_both(stack: AsyncExitStack, servers: tuple[Supervised, Supervised]) -> None:
    async with asyncio.TaskGroup() as starting:
        for server in servers:
            stack.push_async_callback(server.stop)
            starting.create_task(server.start())


async def _open_resources(
    stack: AsyncExitStack, data: DataFolder, nats: NatsServer, postgres: PostgresServer
) -> Resources:
    embedder = build_embedder(settings_from_environment(EmbeddingSettings))
    stack.push_async_callback(embedder.aclose)
    space = Space(embedder.model, embedder.dimension, CHUNKER_VERSION)
    store = await EdgeProcessStore.open(data.vectors)
    stack.push_async_callback(store.aclose)
    topology = Topology()
    passwords = data.secrets()
    await provision_database(
        postgres.dsn,
        ReaderRole(READER_ROLE, passwords.postgres_reader),
        ChatRole(CHAT_ROLE, passwords.postgres_chat),
    )
    client = await stack.enter_async_context(
        open_bus(nats.url, name="citebus-embedded", connect_timeout_s=_START_TIMEOUT_S)
    )
    await provision_bus(client, topology)
    await provision_space(postgres.dsn, space, store)
    pool = await stack.enter_async_context(open_pool(postgres.dsn, max_size=POOL_SIZE))
    return Resources(client, topology, pool, store, embedder, space)


async def _start_services(
    stack: AsyncExitStack,
    data: DataFolder,
    resources: Resources,
    postgres: PostgresServer,
    vaults: Mapping[str, Path],
) -> ProviderInfo | None:
    r, retrieval, ingest = (
        resources,
        settings_from_environment(RetrievalSettings),
        settings_from_environment(IngestSettings),
    )
    reader = await stack.enter_async_context(
        open_pool(postgres.reader_dsn, max_size=retrieval.pool_size, read_only=True)
    )
    scorer = build_scorer(settings_from_environment(ScoringSettings))
    if scorer is not None:
        stack.push_async_callback(scorer.aclose)
    await stack.enter_async_context(
        running_retrieval(r.client, r.topology, reader, r.store, r.embedder, retrieval, scorer)
    )
    about = await _start_chat(stack, r, postgres, scorer)
    await stack.enter_async_context(running_embedders(r, ingest))
    await stack.enter_async_context(running_workers(r, ingest))
    ledger = PostgresLedger(r.pool)
    for folder in vaults.values():
        await ledger.ensure_vault(read_settings(folder))  # so that it is known before a worker hears of it
        await stack.enter_async_context(running_watcher(r.client, r.topology, folder, data.root / "watcher"))
    return about


async def _start_chat(
    stack: AsyncExitStack, resources: Resources, postgres: PostgresServer, scorer: PassageScorer | None
) -> ProviderInfo | None:
    settings = settings_from_environment(ChatSettings)
    parts = await stack.enter_async_context(chat_parts(settings_from_environment(ChatProviderSettings), scorer))
    pool = await stack.enter_async_context(open_pool(postgres.chat_dsn, max_size=settings.pool_size))
    await stack.enter_async_context(running_chat(resources.client, resources.topology, pool, parts, settings))
    return parts.about


def _vault_ids(folders: Sequence[Path]) -> dict[str, Path]:
    vaults: dict[str, Path] = {}
    for folder in folders:
        root = folder.expanduser().resolve()
        if not root.is_dir():
            raise InvalidInput(f"{folder} is no folder: name the folder that holds your Markdown files")
        vault_id = read_settings(root).vault_id
        if vaults.setdefault(vault_id, root) != root:
            raise InvalidInput(
                f"{vaults[vault_id]} and {root} would both be the vault '{vault_id}': "
                f"give one of them another id in {root / '.citebus.toml'}"
            )
    return vaults


def _write_down(
    stack: AsyncExitStack, data: DataFolder, nats: NatsServer, postgres: PostgresServer, vaults: Mapping[str, Path]
) -> None:
    running = RunningStack(
        pid=os.getpid(),
        start_mark=start_mark(os.getpid()) or "",
        version=VERSION,
        started_at=datetime.now(UTC),
        nats_url=nats.url,
        postgres_dsn=postgres.dsn,
        postgres_reader_dsn=postgres.reader_dsn,
        vaults=tuple(RunningVault(vault_id=vault_id, folder=folder) for vault_id, folder in vaults.items()),
    )
    write_running_stack(data, running)
    stack.callback(forget_running_stack, data)


def _parts(data: DataFolder, nats: NatsServer, servers: tuple[Supervised, Supervised], space: Space) -> list[StackPart]:
    nats_server, postgres = servers
    address = nats.url.rpartition("@")[2]
    return [
        StackPart("nats-server", f"nats://{address}, process {nats_server.pid}"),
        StackPart("postgres", f"process {postgres.pid}, data in {data.postgres}"),
        StackPart("vectors", f"Qdrant Edge, space {space.name}, in {data.vectors}"),
        StackPart("services", f"retrieval, chat, embedder, worker, watcher: process {os.getpid()}"),
    ]


def _chat_part(about: ProviderInfo | None) -> StackPart:
    return StackPart("chat", "answers questions" if about is None else f"answered by {provider_text(about)}")
