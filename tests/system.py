"""The ingest and retrieval services in this process, on a test's own names and database, for tests of the whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
from nats.aio.client import Client

from services.ingest.adapters.postgres.ledger import PostgresLedger
from services.ingest.app import Resources, running_embedders, running_workers
from services.ingest.settings import IngestSettings
from services.ingest.text.chunking import CHUNKER_VERSION
from services.ingest.watcher.app import running_watcher
from services.ingest.watcher.settings_file import read_settings
from services.retrieval.app import running_retrieval
from services.retrieval.settings import RetrievalSettings
from shared.bus import open_bus
from shared.contracts.error import ErrorReply
from shared.contracts.ingest import StatusReply, StatusRequest, SyncReply, SyncRequest, WaitReply, WaitRequest
from shared.contracts.message import Message
from shared.contracts.search import ResolveReply, ResolveRequest, SearchReply, SearchRequest
from shared.embedding.embedder import Embedder, Space
from shared.embedding.hashing import HashingEmbedder
from shared.ids import content_hash
from shared.postgres.pool import open_pool
from shared.provision import provision_bus, provision_space
from shared.topology import Topology
from shared.vectors.edge import QdrantEdgeStore
from shared.vectors.store import VectorStore


class Refused(Exception):
    """A request was answered by an error."""

    def __init__(self, reply: ErrorReply) -> None:
        super().__init__(reply.message)
        self.reply = reply


@dataclass
class System:
    """Everything that runs, and short ways to ask it."""

    resources: Resources
    embedder: HashingEmbedder
    dsn: str
    vault: Path
    vault_id: str

    async def ask(self, subject: str, request: Message, reply: type[Any], timeout_s: float = 15.0) -> Any:
        """Return the reply; raises Refused."""
        message = await self.resources.client.request(subject, request.to_json(), timeout=timeout_s)
        if (message.headers or {}).get("Nats-Service-Error-Code"):
            raise Refused(ErrorReply.model_validate_json(message.data))
        return reply.model_validate_json(message.data)

    async def search(self, query: str, **more: Any) -> SearchReply:
        """Search the vault."""
        request = SearchRequest(query=query, **more)
        return await self.ask(self.topology.search(self.vault_id), request, SearchReply)

    async def resolve(self, request: ResolveRequest) -> ResolveReply:
        """Ask what became of a citation."""
        return await self.ask(self.topology.resolve(self.vault_id), request, ResolveReply)

    async def status(self) -> StatusReply:
        """Return counts."""
        return await self.ask(self.topology.ingest("status", self.vault_id), StatusRequest(), StatusReply)

    async def sync(self, *, full: bool = False) -> SyncReply:
        """Sweep the folder."""
        return await self.ask(self.topology.ingest("sync", self.vault_id), SyncRequest(full=full), SyncReply)

    async def wait(self, path: str, *, until: Any = "searchable", timeout_ms: int = 15_000) -> WaitReply:
        """Wait until the file's present content is there."""
        data = (self.vault / path).read_bytes()
        request = WaitRequest(path=path, content_hash=content_hash(data), until=until, timeout_ms=timeout_ms)
        return await self.ask(self.topology.ingest("wait", self.vault_id), request, WaitReply, timeout_ms / 1000 + 5)

    async def write(self, path: str, text: str | bytes, *, until: Any = "embedded") -> None:
        """Save a file and wait until it is there."""
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        await self.wait(path, until=until)

    async def settled(self, condition: Callable[[StatusReply], bool] = lambda _: True) -> StatusReply:
        """Sweep, and wait until nothing waits any more and the condition holds."""
        await self.sync()
        await self.settled_vault()  # known from its first batch on, which a busy worker may still be at
        async with asyncio.timeout(60):
            while True:
                status = await self.status()
                done = status.files_lag == 0 and status.embed_lag == 0 and status.chunks == status.embedded_chunks
                if done and condition(status):
                    return status
                await asyncio.sleep(0.05)

    async def settled_vault(self) -> None:
        """Wait until the vault is known."""
        async with asyncio.timeout(20):
            while not await self.rows("SELECT FROM vaults WHERE vault_id = $1", self.vault_id):  # noqa: ASYNC110
                await asyncio.sleep(0.02)

    async def rows(self, query: str, *arguments: object) -> list[asyncpg.Record]:
        """Read the database."""
        return await self.resources.pool.fetch(query, *arguments)

    async def paths(self) -> dict[str, str]:
        """Return the live pages: path to page id."""
        return {row["path"]: str(row["page_id"]) for row in await self.rows("SELECT path, page_id FROM pages")}

    async def points(self) -> set[str]:
        """Return the ids of all points."""
        return {str(id_) async for id_ in self.resources.store.ids(self.resources.space.name)}

    async def snapshot(self) -> dict[str, object]:
        """Return all that is live, in a form that two systems with the same vault share."""
        chunks = await self.rows(
            "SELECT chunk_id::text, path, c.content_hash, text_hash, char_start, char_end, embedded_in IS NOT NULL"
            " FROM chunks c JOIN pages USING (page_id) ORDER BY chunk_id"
        )
        links = await self.rows(
            "SELECT p.path, ordinal, state, t.path AS target FROM links l JOIN pages p USING (page_id)"
            " LEFT JOIN pages t ON t.page_id = target_page_id ORDER BY 1, 2"
        )
        return {
            "chunks": [tuple(row) for row in chunks],
            "links": [tuple(row) for row in links],
            "points": sorted(await self.points()),
        }

    @property
    def topology(self) -> Topology:
        """Names on the bus."""
        return self.resources.topology


@asynccontextmanager
async def running_system(
    nats_url: str,
    topology: Topology,
    dsn: str,
    folder: Path,
    *,
    vault: Path | None = None,
    store: VectorStore | None = None,
    embedder: Embedder | None = None,
    watch: bool = True,
) -> AsyncGenerator[System]:
    """Provision and run all services; `folder` keeps vectors and manifests, so a second run on it goes on."""
    root = vault or folder / "vault"
    root.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        client: Client = await stack.enter_async_context(open_bus(nats_url, name="test", connect_timeout_s=10))
        counting = HashingEmbedder()
        used = embedder or counting
        space = Space(used.model, used.dimension, CHUNKER_VERSION)
        if store is None:
            store = await QdrantEdgeStore.open(folder / "vectors")
            stack.push_async_callback(store.aclose)
        await provision_bus(client, topology)
        await provision_space(dsn, space, store)
        pool = await stack.enter_async_context(open_pool(dsn, max_size=6))
        reader = await stack.enter_async_context(open_pool(dsn, max_size=2, read_only=True))
        resources = Resources(client, topology, pool, store, used, space)
        ingest = IngestSettings(sweep_s=2.0, prepare_processes=0)
        retrieval = RetrievalSettings(vault_max_age_s=0.0)
        await stack.enter_async_context(running_retrieval(client, topology, reader, store, used, retrieval))
        await stack.enter_async_context(running_embedders(resources, ingest))
        await stack.enter_async_context(running_workers(resources, ingest))
        if watch:
            await PostgresLedger(pool).ensure_vault(read_settings(root))
            await stack.enter_async_context(running_watcher(client, topology, root, folder / "watcher"))
        yield System(resources, counting, dsn, root, root.name)
