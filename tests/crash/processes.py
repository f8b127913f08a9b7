"""A deployment of real processes that can be killed: two servers, the watcher, and the worker with its embedder.

Qdrant Edge is opened by one process, so worker and embedder share one here; they die together.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from deploy.embedded.nats_server import NatsServer
from deploy.embedded.postgres_server import PostgresServer
from deploy.embedded.state import DataFolder
from deploy.embedded.supervised import RestartPolicy, Supervised
from services.ingest.text.chunking import CHUNKER_VERSION
from shared.bus import open_bus
from shared.embedding.embedder import Space
from shared.embedding.hashing import HashingEmbedder
from shared.provision import provision_bus, provision_database, provision_space
from shared.topology import Topology
from shared.vectors.edge import QdrantEdgeStore

_PATIENT = RestartPolicy(quick_failures=1_000, longest_delay_s=0.2)


@dataclass
class Deployment:
    """Where everything is, and the processes that may be killed."""

    folder: Path
    vault: Path
    nats_url: str
    dsn: str
    servers: dict[str, Supervised]
    services: dict[str, asyncio.subprocess.Process]

    async def start(self, role: str) -> None:
        """Start the watcher or the worker with its embedder."""
        words = ["watcher", str(self.vault)] if role == "watcher" else ["worker", "embedder"]
        log = (self.folder / f"{role}.log").open("ab")
        with log:
            self.services[role] = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "services.ingest",
                *words,
                "--state-dir",
                str(self.folder / "watcher"),
                env=self.environment(),
                stdout=log,
                stderr=log,
            )

    def environment(self) -> dict[str, str]:
        """Return what the services read."""
        return os.environ | {
            "CITEBUS_NATS_URL": self.nats_url,
            "CITEBUS_POSTGRES_DSN": self.dsn,
            "CITEBUS_EDGE_DIR": str(self.folder / "vectors"),
            "CITEBUS_EMBEDDING_PROVIDER": "hashing",
            "CITEBUS_INGEST_SWEEP_S": "3",
        }

    async def kill(self, role: str) -> None:
        """Kill a process as the kernel would; servers are restarted by their supervisor, services at once."""
        if role in self.servers:
            pid = self.servers[role].pid
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
            return
        process = self.services[role]
        if process.returncode is None:
            process.kill()
        await process.wait()
        await self.start(role)

    async def stop_services(self) -> None:
        """Stop services in order."""
        for process in self.services.values():
            if process.returncode is None:
                process.terminate()
        await asyncio.gather(*(process.wait() for process in self.services.values()))


@asynccontextmanager
async def deployment(folder: Path, vault: Path) -> AsyncGenerator[Deployment]:
    """Start servers, provision, start services; stop all at the end."""
    data = DataFolder.create(folder)
    nats, postgres = NatsServer(data), PostgresServer(data)
    async with Supervised(nats, _PATIENT) as watched_nats, Supervised(postgres, _PATIENT) as watched_postgres:
        await provision_database(postgres.dsn)
        async with open_bus(nats.url, name="provision") as client:
            await provision_bus(client, Topology())
        store = await QdrantEdgeStore.open(folder / "vectors")
        embedder = HashingEmbedder()
        await provision_space(postgres.dsn, Space(embedder.model, embedder.dimension, CHUNKER_VERSION), store)
        await store.aclose()
        servers = {"nats": watched_nats, "postgres": watched_postgres}
        running = Deployment(folder, vault, nats.url, postgres.dsn, servers, {})
        for role in ("worker", "watcher"):
            await running.start(role)
        try:
            yield running
        finally:
            await running.stop_services()
