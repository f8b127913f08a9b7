"""Kills worker, embedder, watcher, NATS and Postgres at random while files change; the end equals a clean rebuild."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
from pathlib import Path

import asyncpg
import pytest
from nats.aio.client import Client

from shared.bus import open_bus
from shared.contracts.ingest import StatusReply, SyncReply
from shared.topology import Topology
from shared.vectors.edge import QdrantEdgeStore
from tests.crash.processes import Deployment, deployment

KILLS = int(os.environ.get("CITEBUS_CRASH_KILLS", "50"))
SEED = int(os.environ.get("CITEBUS_CRASH_SEED", "1"))
WORDS = ["harbour", "tide", "lamp", "ledger", "copper", "almanac", "winter", "orchard", "signal", "bridge"]
ROLES = ("worker", "worker", "watcher", "nats", "postgres")  # the worker's process is the embedder's too


class Author:
    """Writes, edits, moves, swaps and deletes files of a vault."""

    def __init__(self, vault: Path, rng: random.Random) -> None:
        self._vault = vault
        self._rng = rng
        self._count = 0

    def act(self) -> None:
        """Do one thing to the vault."""
        files = sorted(self._vault.rglob("*.md"))
        action = self._rng.choice(["new", "new", "edit", "edit", "move", "swap", "delete"])
        if action == "new" or len(files) < 8:
            self._write(self._vault / f"d{self._rng.randrange(4)}" / f"n{self._count}.md")
        elif action == "edit":
            self._write(self._rng.choice(files))
        elif action == "move":
            self._rng.choice(files).rename(self._vault / f"d{self._rng.randrange(4)}" / f"m{self._count}.md")
        elif action == "swap":
            self._swap(*self._rng.sample(files, 2))
        else:
            self._rng.choice(files).unlink()
        self._count += 1

    def _write(self, path: Path) -> None:
        path.parent.mkdir(exist_ok=True)
        parts = [" ".join(self._rng.choices(WORDS, k=60)) for _ in range(self._rng.randint(1, 4))]
        body = "\n\n".join(f"## Part {n}\n\n{part}" for n, part in enumerate(parts))
        path.write_text(f"# {path.stem} {self._count}\n\nSee [[n{self._rng.randrange(20)}]].\n\n{body}\n")

    def _swap(self, one: Path, other: Path) -> None:
        spare = one.with_suffix(".swapping")
        one.rename(spare)
        other.rename(one)
        spare.rename(other)


async def ask(
    client: Client, subject: str, reply: type[StatusReply] | type[SyncReply]
) -> StatusReply | SyncReply | None:
    """Ask, None when nobody answers or it fails."""
    try:
        message = await client.request(subject, b"{}", timeout=5)
    except Exception:  # noqa: BLE001  (whatever is down at the moment)
        return None
    if (message.headers or {}).get("Nats-Service-Error-Code"):
        return None
    return reply.model_validate_json(message.data)


async def settled(running: Deployment, vault_id: str) -> None:
    """Sweep, then wait until nothing is waiting."""
    topology = Topology()
    async with open_bus(running.nats_url, name="test") as client, asyncio.timeout(120):
        while await ask(client, topology.ingest("sync", vault_id), SyncReply) is None:  # noqa: ASYNC110  (no event to await)
            await asyncio.sleep(0.2)
        quiet = 0
        while quiet < 3:
            status = await ask(client, topology.ingest("status", vault_id), StatusReply)
            done = isinstance(status, StatusReply) and not status.files_lag and not status.embed_lag
            quiet = quiet + 1 if done and status.chunks == status.embedded_chunks else 0  # type: ignore[union-attr]
            await asyncio.sleep(0.3)
        await asyncio.sleep(7)  # two sweeps, so that orphans are gone


async def live(running: Deployment) -> dict[str, list[tuple[object, ...]]]:
    """Return pages, chunks, links and edges, after the services stopped, and the points."""
    connection = await asyncpg.connect(running.dsn)
    queries = {
        "pages": "SELECT path, content_hash FROM pages ORDER BY 1",
        "chunks": "SELECT chunk_id::text, text_hash, char_start, char_end, embedded_in FROM chunks ORDER BY 1",
        "links": "SELECT p.path, ordinal, state, t.path FROM links l JOIN pages p USING (page_id)"
        " LEFT JOIN pages t ON t.page_id = target_page_id ORDER BY 1, 2",
        "edges": "SELECT p.path, o.path, weight, directions, shared_sources, adamic_adar, affinity FROM edges e"
        " LEFT JOIN pages p USING (page_id) LEFT JOIN pages o ON o.page_id = e.other_id ORDER BY 1, 2",
        "marks": "SELECT page_id FROM edge_work",
    }
    found: dict[str, list[tuple[object, ...]]] = {
        name: [tuple(row) for row in await connection.fetch(query)] for name, query in queries.items()
    }
    await connection.close()
    store = await QdrantEdgeStore.open(running.folder / "vectors")
    space = (await _space(running)) or ""
    found["points"] = sorted([(str(id_),) async for id_ in store.ids(space)])
    await store.aclose()
    return found


async def _space(running: Deployment) -> str | None:
    connection = await asyncpg.connect(running.dsn)
    try:
        return await connection.fetchval("SELECT name FROM spaces WHERE live")
    finally:
        await connection.close()


async def end_of(folder: Path, vault: Path, kills: int, rng: random.Random) -> dict[str, list[tuple[object, ...]]]:
    """Run a deployment over the vault, killing meanwhile; return what is live at the end."""
    async with deployment(folder, vault) as running:
        author = Author(vault, rng)
        for _ in range(kills):
            for _ in range(rng.randint(1, 6)):
                author.act()
                await asyncio.sleep(rng.random() * 0.1)
            await running.kill(rng.choice(ROLES))
            await asyncio.sleep(rng.random() * 1.0)
        await settled(running, vault.name)
        await running.stop_services()
        return await live(running)


@pytest.mark.crash
@pytest.mark.timeout(900)
async def test_after_random_kills_what_is_live_equals_a_clean_rebuild(data_dir: Path) -> None:
    vault = data_dir / "vault"
    os.makedirs(vault)
    killed = await end_of(data_dir / "killed", vault, KILLS, random.Random(SEED))
    clean = await end_of(data_dir / "clean", vault, 0, random.Random(SEED))
    shutil.rmtree(data_dir / "clean", ignore_errors=True)
    assert len(killed["pages"]) >= 8
    assert killed["marks"] == []
    for part in ("pages", "chunks", "links", "edges", "marks", "points"):
        assert killed[part] == clean[part], part
