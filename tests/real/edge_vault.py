"""A vault of small pages, changed through the worker's own commit; and its edges recomputed in plain Python."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from uuid import UUID

from services.ingest.adapters.postgres.ledger import PostgresLedger
from services.ingest.edges import EdgeRules
from services.ingest.indexing import Arrival, Indexer
from services.ingest.preparing import PoolOptions, Preparing
from shared.contracts.embed import ChunkText
from shared.contracts.files import FileChanged, VaultSettings
from shared.contracts.pages import PageEvent
from shared.embedding.embedder import Space
from shared.embedding.hashing import HashingEmbedder
from shared.ids import content_hash, page_id
from shared.postgres.pool import Pool
from shared.vectors.bm25 import Bm25Encoder
from tests.fakes.in_memory_vector_store import InMemoryVectorStore

EdgeRow = tuple[float, int, int, float, float]
"""Weight, directions, shared sources, Adamic–Adar sum, affinity."""

_SPACE = Space(HashingEmbedder().model, HashingEmbedder().dimension, chunker_version=1)


class _NoOutbox:
    async def publish(self, events: Sequence[PageEvent], texts: Iterable[ChunkText]) -> None:
        """Nobody listens."""

    def carries(self, text: ChunkText) -> bool:
        return bool(text)


class _DefaultSettings:
    async def settings(self, vault_id: str) -> VaultSettings:
        return VaultSettings(vault_id=vault_id)


@dataclass(slots=True)
class EdgeVault:
    """Pages come, change, move and go; `marks` counts what the commits marked."""

    pool: Pool
    vault_id: str = "garden"
    marks: list[int] = field(default_factory=list[int])
    _revision: int = 0
    _born: dict[str, str] = field(default_factory=dict[str, str])
    _indexer: Indexer | None = None

    async def put(self, *files: tuple[str, str]) -> None:
        """Save files, in one transaction."""
        await self._index([self._present(path, text, self._born.setdefault(path, path)) for path, text in files])

    async def remove(self, *paths: str) -> None:
        """Delete files."""
        await self._index([self._removed(path, self._born.pop(path)) for path in paths])

    async def move(self, path: str, to: str, text: str) -> None:
        """Give a page another path and text."""
        born = self._born.pop(path)
        self._born[to] = born
        await self._index(
            [self._present(to, text, born, moved_from=path), self._removed(path, born, moved_to=to)],
        )

    def paths(self) -> list[str]:
        """Return where pages are."""
        return sorted(self._born)

    def id(self, path: str) -> UUID:
        """Return the page at a path."""
        return page_id(self.vault_id, self._born[path])

    async def _index(self, messages: Sequence[FileChanged]) -> None:
        if self._indexer is None:
            store = InMemoryVectorStore()
            await store.ensure_space(_SPACE)
            self._indexer = Indexer(
                ledger=PostgresLedger(self.pool, self.marks.append),
                store=store,
                outbox=_NoOutbox(),
                catalogue=_DefaultSettings(),
                preparing=Preparing(PoolOptions(processes=0)),
                bm25=Bm25Encoder(),
                space=_SPACE.name,
            )
        arrivals: list[Arrival] = []
        for message in messages:
            self._revision += 1
            arrivals.append(Arrival(message, self._revision))
        await self._indexer.index(self.vault_id, arrivals)

    def _present(self, path: str, text: str, born: str, moved_from: str | None = None) -> FileChanged:
        return FileChanged(
            vault_id=self.vault_id,
            path=path,
            disk_path=path,
            page_id=page_id(self.vault_id, born),
            change="present",
            content=text.encode(),
            content_hash=content_hash(text),
            moved_from=moved_from,
        )

    def _removed(self, path: str, born: str, moved_to: str | None = None) -> FileChanged:
        id_ = page_id(self.vault_id, born)
        return FileChanged(
            vault_id=self.vault_id, path=path, disk_path=path, page_id=id_, change="removed", moved_to=moved_to
        )


def note(links: Collection[str] = (), sources: Collection[str] = (), type_: str = "", text: str = "Words.") -> str:
    """Return a page's text."""
    head = ([f"type: {type_}"] if type_ else []) + (
        ["sources:", *(f"  - {each}" for each in sources)] if sources else []
    )
    front = "\n".join(("---", *head, "---", "")) if head else ""
    return front + " ".join((text, *(f"[[{link}]]" for link in links))) + "\n"


def random_note(rng: random.Random, stems: Sequence[str]) -> str:
    """Return a page with some links, sources and a type, all from few, so that pages share them."""
    return note(
        rng.sample(stems, min(len(stems), rng.choice([0, 1, 2, 2, 3, 6]))),
        rng.sample(["s1", "s2", "s3", "https://example.org/" + "x" * 3_000], rng.choice([0, 0, 1, 2])),
        rng.choice(["", "entity", "Concept", "synthesis", "source", "query", "recipe"]),
        f"Words {rng.randrange(1_000_000)}.",
    )


async def stored(pool: Pool) -> dict[tuple[UUID, UUID], EdgeRow]:
    """Return all rows of `edges`."""
    rows = await pool.fetch(
        "SELECT page_id, other_id, weight, directions, shared_sources, adamic_adar, affinity FROM edges"
    )
    return {(row[0], row[1]): (round(row[2], 3), row[3], row[4], round(row[5], 3), round(row[6], 3)) for row in rows}


async def recomputed(pool: Pool, rules: EdgeRules) -> dict[tuple[UUID, UUID], EdgeRow]:
    """Compute all edges from the pages and links that are live, as DESIGN says it, looking at every pair."""
    pages = {row["page_id"]: row for row in await pool.fetch("SELECT * FROM pages")}
    links = {
        (row["page_id"], row["target_page_id"])
        for row in await pool.fetch("SELECT page_id, target_page_id FROM links WHERE target_page_id IS NOT NULL")
        if row["page_id"] != row["target_page_id"]
    }
    near: dict[UUID, set[UUID]] = {page: set() for page in pages}
    for one, other in links:
        near[one].add(other)
        near[other].add(one)
    hubs = {
        page
        for page, row in pages.items()
        if len(near[page]) > rules.degree_limit or row["stem"] in rules.generated_stems
    }
    found: dict[tuple[UUID, UUID], EdgeRow] = {}
    for a, b in combinations(sorted(set(pages) - hubs), 2):
        if pages[a]["vault_id"] != pages[b]["vault_id"]:
            continue
        directions = ((a, b) in links) + ((b, a) in links)
        shared = sum(
            1
            for source in set(pages[a]["sources"]) & set(pages[b]["sources"])
            if sum(source in row["sources"] and row["vault_id"] == pages[a]["vault_id"] for row in pages.values())
            <= rules.source_limit
        )
        common = sum(1 / math.log(max(len(near[z]), 2)) for z in (near[a] & near[b]) - hubs)
        if directions or shared or common:
            fits = _fits(pages[a]["page_type"], pages[b]["page_type"])
            weight = 3.0 * directions + 4.0 * shared + 1.5 * common + 1.0 * fits
            row = (round(weight, 3), directions, shared, round(common, 3), round(fits, 3))
            found[a, b] = found[b, a] = row
    return found


def _fits(one: str | None, other: str | None) -> float:
    types = {(one or "").lower(), (other or "").lower()}
    if not types <= {"entity", "concept", "synthesis", "source", "query"}:
        return 0.0
    if types in ({"entity", "concept"}, {"concept", "synthesis"}):
        return 1.2
    if types in ({"entity"}, {"concept"}, {"synthesis"}, {"entity", "query"}):
        return 0.8
    return 0.5 if types in ({"source"}, {"query"}) else 1.0


def differences(
    found: dict[tuple[UUID, UUID], EdgeRow], expected: dict[tuple[UUID, UUID], EdgeRow]
) -> list[tuple[tuple[UUID, UUID], EdgeRow | None, EdgeRow | None]]:
    """Return pairs that differ by more than rounding: pair, as found, as expected."""
    wrong: list[tuple[tuple[UUID, UUID], EdgeRow | None, EdgeRow | None]] = []
    for pair in sorted(found.keys() | expected.keys()):
        one, other = found.get(pair), expected.get(pair)
        if one is None or other is None or any(abs(x - y) > 0.002 for x, y in zip(one, other, strict=True)):
            wrong.append((pair, one, other))
    return wrong
