"""A catalogue in memory: vaults are lists of pages, a chunk is live as long as its page is in the list."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from services.retrieval.ports import (
    Choice,
    ChunkMark,
    LiveChunk,
    Neighbours,
    NewerSource,
    Outline,
    Reach,
    Snapshot,
    VaultState,
    VaultTraits,
)
from shared.embedding.embedder import Space
from shared.embedding.hashing import HashingEmbedder
from shared.errors import NotFound
from shared.ids import chunk_id, content_hash, page_id
from shared.page_graph import LINK_WEIGHT
from shared.tokens import estimate_tokens

SPACE = Space(HashingEmbedder().model, HashingEmbedder().dimension, chunker_version=1).name
"""Live by default: that of the hashing embedder."""


@dataclass(frozen=True, slots=True)
class PageRow:
    """A live page as a test describes it; its chunks stand one after another with a blank line between them."""

    vault_id: str
    path: str
    texts: tuple[str, ...]
    links: tuple[str, ...] = ()
    """Paths of pages that it links to, as they were born."""
    title: str = ""
    language: str = "en"
    born_at: str = ""
    """Path that its id comes from, when it has moved."""
    revision: int = 1
    fields: Mapping[str, object] = field(default_factory=dict[str, object])
    """Payload fields from the front matter."""
    newer_source: NewerSource | None = None

    @property
    def id(self) -> UUID:
        return page_id(self.vault_id, self.born_at or self.path)

    @property
    def stem(self) -> str:
        return self.path.rpartition("/")[2].removesuffix(".md").lower()

    def chunks(self) -> list[LiveChunk]:
        chunks: list[LiveChunk] = []
        start = 0
        for index, text in enumerate(self.texts):
            digest = content_hash(text)
            chunks.append(
                LiveChunk(
                    chunk_id=chunk_id(self.vault_id, self.path, index, digest),
                    page_id=self.id,
                    index=index,
                    content_hash=digest,
                    heading_path=("Top", f"Part {index}"),
                    char_start=start,
                    char_end=start + len(text),
                    line_start=1 + 2 * index,
                    line_end=2 + 2 * index,
                    token_count=estimate_tokens(text),
                    text=text,
                    title=self.title or self.stem,
                    slug=self.stem,
                    path=self.path,
                    disk_path=self.path,
                    revision=self.revision,
                    newer_source=self.newer_source,
                )
            )
            start += len(text) + 2
        return chunks


@dataclass(slots=True)
class InMemoryLivePages:
    """Holds vaults by id; records the reads, and can be told to change or to hang at one."""

    vaults: dict[str, list[PageRow]]
    never_cite: tuple[str, ...] = ("raw/",)
    space: str | None = SPACE
    data_version: int = 1
    reads: list[str] = field(default_factory=list[str])
    hanging: set[str] = field(default_factory=set[str])
    """Reads that never end."""
    before: dict[str, Callable[[], None]] = field(default_factory=dict[str, Callable[[], None]])
    """What happens before each read of that name."""

    async def vault(self, vault_id: str) -> tuple[VaultState, str | None, bool] | None:
        await self._begin("vault")
        return (self._state(), self.space, len(self.vaults) == 1) if vault_id in self.vaults else None

    async def traits(self, vault_id: str, hub_stems: Sequence[str]) -> VaultTraits:
        await self._begin("traits")
        rows = self.vaults[vault_id]
        return VaultTraits(
            languages=tuple(sorted({row.language for row in rows})),
            hubs=frozenset(row.id for row in rows if row.stem in hub_stems),
            uncited=any(row.path.startswith(self.never_cite) for row in rows),
        )

    async def snapshot(self, vault_id: str, chunk_ids: Sequence[UUID]) -> Snapshot:
        await self._begin("snapshot")
        live = {chunk.chunk_id: chunk for row in self._rows(vault_id) for chunk in row.chunks()}
        return Snapshot(self._state(), {each: live[each] for each in chunk_ids if each in live})

    async def beside(self, vault_id: str, chunk_ids: Sequence[UUID]) -> Snapshot:
        await self._begin("beside")
        found: dict[UUID, LiveChunk] = {}
        for each in chunk_ids:
            for row in self._rows(vault_id):
                chunks = row.chunks()
                indexes = [chunk.index for chunk in chunks if chunk.chunk_id == each]
                near = [chunk for chunk in chunks if any(abs(chunk.index - index) == 1 for index in indexes)]
                found |= {chunk.chunk_id: chunk for chunk in near}
        return Snapshot(self._state(), found)

    async def neighbours(self, pages: Mapping[UUID, float], reach: Reach) -> Mapping[UUID, Neighbours]:
        await self._begin("neighbours")
        found = {each: self._neighbours(each, reach) for each in pages}
        if reach.steps > 1:
            further = {target for each in found.values() if each for target, _ in each.linked} - found.keys()
            found |= {each: self._neighbours(each, reach) for each in further}
        return {page: linked for page, linked in found.items() if linked is not None}

    def _neighbours(self, page: UUID, reach: Reach) -> Neighbours | None:
        rows = {row.id: row for rows in self.vaults.values() for row in rows}
        pairs = {(row.id, page_id(row.vault_id, path)) for row in rows.values() for path in row.links}
        ends = [b if a == page else a for a, b in pairs if (a == page) != (b == page)]
        weights = {end: LINK_WEIGHT * ends.count(end) for end in ends}
        if page not in rows or not weights or len(weights) > reach.degree_limit:
            return None
        strongest = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[: reach.fan_out]
        return Neighbours(rows[page].title or rows[page].stem, rows[page].stem, tuple(strongest))

    async def openings(self, vault_id: str, choice: Choice) -> Snapshot:
        await self._begin("openings")
        rows = {row.id: row for row in self._rows(vault_id)}
        chosen: list[LiveChunk] = []
        for each in choice.page_ids:
            if each not in rows or not self._state().cites(rows[each].path):
                continue
            chunks = {chunk.chunk_id: chunk for chunk in rows[each].chunks()}
            ranked = [chunks[found] for found in choice.ranked if found in chunks]
            chosen += ranked[:1] or (list(chunks.values())[:1] if choice.or_first else [])
        return Snapshot(self._state(), {chunk.chunk_id: chunk for chunk in chosen[: choice.limit]})

    async def outline(self, vault_id: str, page_id: UUID) -> Outline | None:
        await self._begin("outline")
        row = next((row for row in self._rows(vault_id) if row.id == page_id), None)
        if row is None:
            return None
        marks = tuple(ChunkMark(chunk.chunk_id, chunk.index, chunk.content_hash) for chunk in row.chunks())
        paths = (row.path, row.born_at) if row.born_at else (row.path,)
        return Outline(self.data_version, row.title or row.stem, row.stem, row.path, paths, marks)

    def _rows(self, vault_id: str) -> list[PageRow]:
        if vault_id not in self.vaults:
            raise NotFound(f"There is no vault '{vault_id}'.")
        return self.vaults[vault_id]

    def _state(self) -> VaultState:
        return VaultState(self.data_version, self.never_cite)

    async def _begin(self, name: str) -> None:
        self.reads.append(name)
        if name in self.hanging:
            await asyncio.Event().wait()
        self.before.get(name, lambda: None)()
