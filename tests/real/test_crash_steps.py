"""A worker that dies at any step of a commit, and changes that come late, twice and out of order: the same end."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from services.ingest.adapters.nats_outbox import NatsOutbox
from services.ingest.adapters.nats_vault_catalogue import NatsVaultCatalogue
from services.ingest.adapters.postgres.embedding_ledger import PostgresEmbeddingLedger
from services.ingest.adapters.postgres.ledger import PostgresLedger
from services.ingest.adapters.postgres.point_source import PostgresPointSource
from services.ingest.embedding_stage import EmbeddingStage
from services.ingest.indexing import Arrival, Indexer
from services.ingest.ports import Ledger
from services.ingest.preparing import PoolOptions, Preparing
from services.ingest.reconciling import Reconciling
from shared.contracts.files import FileChanged
from shared.ids import content_hash, page_id
from shared.topology import Topology
from shared.vectors.bm25 import Bm25Encoder
from shared.vectors.store import VectorStore
from tests.fakes.faults import STEPS, Death, Killed, MortalLedger, MortalOutbox, MortalStore
from tests.fakes.in_memory_vector_store import InMemoryVectorStore
from tests.system import System, running_system

WORDS = ["harbour", "tide", "lamp", "ledger", "copper", "almanac", "winter", "orchard", "signal", "bridge"]


@dataclass
class Bench:
    """A worker and an embedder driven by hand, on real Postgres and NATS."""

    system: System

    def indexer(self, death: Death | None = None) -> Indexer:
        """Return a worker as a new process would have it."""
        r = self.system.resources
        mortal = death or Death("never")
        return Indexer(
            ledger=cast("Ledger", MortalLedger(PostgresLedger(r.pool), mortal)),
            store=cast("VectorStore", MortalStore(r.store, mortal)),
            outbox=MortalOutbox(NatsOutbox(r.client, r.topology), mortal),
            catalogue=NatsVaultCatalogue(r.client, r.topology),
            preparing=Preparing(PoolOptions(processes=0)),
            bm25=Bm25Encoder(),
            space=r.space.name,
        )

    async def embed_all(self) -> None:
        """Give every live chunk its vector."""
        r = self.system.resources
        ledger = PostgresEmbeddingLedger(r.pool)
        stage = EmbeddingStage(
            ledger=ledger,
            store=r.store,
            embedder=r.embedder,
            outbox=NatsOutbox(r.client, r.topology),
            space=r.space.name,
        )
        while missing := await ledger.missing(r.space.name, None, 500):
            await stage.embed([text for _, text in missing])

    async def reconcile(self) -> None:
        """Sweep twice, so that orphans go."""
        r = self.system.resources
        sweeps = Reconciling(PostgresPointSource(r.pool), r.store, Bm25Encoder(), r.space)
        await sweeps.reconcile()
        await sweeps.reconcile()

    async def events(self) -> set[tuple[str, str]]:
        """Return type and path of all page events published."""
        stream = self.system.topology.pages
        jetstream = self.system.resources.client.jetstream()
        info = await jetstream.stream_info(stream)
        found: set[tuple[str, str]] = set()
        for sequence in range(info.state.first_seq, info.state.last_seq + 1):
            message = await jetstream.get_msg(stream, sequence)
            event = json.loads(message.data or b"{}")
            found.add((event["type"], event["path"]))
        return found


def change(path: str, text: str | None, revision: int, born_at: str | None = None, **more: Any) -> Arrival:
    """Return a saved file, or a removed one."""
    id_ = page_id("vault", born_at or path)
    if text is None:
        message = FileChanged(vault_id="vault", path=path, disk_path=path, page_id=id_, change="removed", **more)
    else:
        message = FileChanged(
            vault_id="vault",
            path=path,
            disk_path=path,
            page_id=id_,
            change="present",
            content=text.encode(),
            content_hash=content_hash(text),
            **more,
        )
    return Arrival(message, revision)


def text_of(seed: int) -> str:
    """Return a page of a few sections with a link."""
    rng = random.Random(seed)
    sections = [" ".join(rng.choices(WORDS, k=80)) for _ in range(rng.randint(1, 4))]
    body = "\n\n".join(f"## Part {n}\n\n{section}" for n, section in enumerate(sections))
    return f"# Page {seed}\n\nSee [[p{seed % 5}]] and [[p{(seed + 2) % 7}]].\n\n{body}\n"


@pytest.fixture
async def bench(nats_url: str, topology: Topology, database: str, tmp_path: Path) -> AsyncGenerator[Bench]:
    """Yield a bench whose own services have nothing to do: changes are given by hand, not through the bus."""
    store = InMemoryVectorStore()
    async with running_system(nats_url, topology, database, tmp_path, store=store, watch=False) as system:
        yield Bench(system)


async def clean_end(bench: Bench, arrivals: list[Arrival]) -> dict[str, object]:
    """Return what a system without any fault ends with, in the same database, emptied before and after."""
    for arrival in arrivals:
        await bench.indexer().index("vault", [arrival])
    await bench.embed_all()
    await bench.reconcile()
    snapshot = await bench.system.snapshot()
    for table in ("pages", "files", "embeddings"):  # chunks and links go with pages
        await bench.system.resources.pool.execute(f"DELETE FROM {table}")
    await bench.reconcile()
    return snapshot


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("act", ["new", "edit", "move", "remove"])
async def test_a_worker_killed_at_any_step_and_restarted_ends_as_if_nothing_had_happened(
    bench: Bench, step: str, act: str
) -> None:
    story = [change("p0.md", text_of(0), 1), change("p1.md", text_of(1), 2)]
    last: dict[str, Callable[[], list[Arrival]]] = {
        "new": lambda: [change("p2.md", text_of(2), 3)],
        "edit": lambda: [change("p1.md", text_of(9), 3)],
        "move": lambda: [
            change("q.md", text_of(1), 3, born_at="p1.md", moved_from="p1.md"),
            change("p1.md", None, 4, moved_to="q.md"),
        ],
        "remove": lambda: [change("p1.md", None, 3)],
    }
    final = last[act]()
    expected = await clean_end(bench, story + final)
    for arrival in story:
        await bench.indexer().index("vault", [arrival])
    death = Death(step)
    try:
        await bench.indexer(death).index("vault", final)
    except Killed:
        await bench.indexer().index("vault", [replace(arrival, deliveries=2) for arrival in final])
    else:
        assert not death.struck
    await bench.embed_all()
    await bench.reconcile()
    assert await bench.system.snapshot() == expected
    event = {"new": "indexed", "edit": "indexed", "move": "moved", "remove": "removed"}[act]
    path = {"new": "p2.md", "edit": "p1.md", "move": "q.md", "remove": "p1.md"}[act]
    assert (f"citebus.page.{event}.v1", path) in await bench.events()


@pytest.mark.parametrize("seed", range(6))
async def test_changes_late_twice_and_out_of_order_end_as_in_order(bench: Bench, seed: int) -> None:
    rng = random.Random(seed)
    arrivals: list[Arrival] = []
    for revision in range(1, 41):
        path = f"p{rng.randrange(7)}.md"
        text = None if rng.random() < 0.2 else text_of(rng.randrange(12))
        arrivals.append(change(path, text, revision))
    expected = await clean_end(bench, arrivals)
    shuffled = arrivals + rng.sample(arrivals, 20)
    rng.shuffle(shuffled)
    while shuffled:
        size = rng.randint(1, 8)
        await bench.indexer().index("vault", shuffled[:size])
        del shuffled[:size]
    await bench.embed_all()
    await bench.reconcile()
    assert await bench.system.snapshot() == expected
