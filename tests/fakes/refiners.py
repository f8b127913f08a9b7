"""What refining retrievers ask, in memory: contents of chunks, a scorer that counts words, a rewriter with a list."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from services.retrieval.refining import Refiners
from shared.embedding.embedder import Vector
from shared.errors import CitebusError
from shared.scoring.scorer import check_count


@dataclass(slots=True)
class InMemoryContents:
    """Texts and vectors by chunk id; counts reads, and fails with `error`."""

    by_id: dict[UUID, str] = field(default_factory=dict[UUID, str])
    dense: dict[UUID, Vector] = field(default_factory=dict[UUID, Vector])
    reads: list[tuple[UUID, ...]] = field(default_factory=list[tuple[UUID, ...]])
    error: CitebusError | None = None

    async def texts(self, vault_id: str, chunk_ids: Sequence[UUID]) -> Mapping[UUID, str]:
        self._read(chunk_ids)
        return {each: self.by_id[each] for each in chunk_ids if each in self.by_id}

    async def vectors(self, vault_id: str, space: str, chunk_ids: Sequence[UUID]) -> Mapping[UUID, Vector]:
        self._read(chunk_ids)
        return {each: self.dense[each] for each in chunk_ids if each in self.dense}

    def _read(self, chunk_ids: Sequence[UUID]) -> None:
        self.reads.append(tuple(chunk_ids))
        if self.error is not None:
            raise self.error


@dataclass(slots=True)
class WordScorer:
    """Scores by the share of the query's words that a text has; records calls, and can be told to fail or to hang."""

    name: str = "words"
    calls: list[tuple[str, tuple[str, ...]]] = field(default_factory=list[tuple[str, tuple[str, ...]]])
    error: CitebusError | None = None
    hangs_from: int | None = None
    """From this call on, counted from 0, calls never end."""

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        check_count(texts)
        self.calls.append((query, tuple(texts)))
        if self.hangs_from is not None and len(self.calls) > self.hangs_from:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        asked = set(query.split())
        return [len(asked & set(text.split())) / max(1, len(asked)) for text in texts]

    async def aclose(self) -> None:
        return None


@dataclass(slots=True)
class ListedRewriter:
    """Gives the wordings that are listed for a query; records queries, and can be told to fail or to hang."""

    listed: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    queries: list[str] = field(default_factory=list[str])
    error: CitebusError | None = None
    hangs: bool = False

    async def rewrites(self, query: str, count: int) -> tuple[str, ...]:
        self.queries.append(query)
        if self.hangs:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        return self.listed.get(query, ())[:count]

    async def aclose(self) -> None:
        return None


@dataclass(slots=True)
class FakeRefiners:
    """All of them, and what a profile is given."""

    contents: InMemoryContents = field(default_factory=InMemoryContents)
    scorer: WordScorer = field(default_factory=WordScorer)
    rewriter: ListedRewriter = field(default_factory=ListedRewriter)

    def given(self) -> Refiners:
        return Refiners(self.contents, self.scorer, self.rewriter)

    def fail(self, error: CitebusError) -> None:
        """Make every refiner fail from now on."""
        self.contents.error = self.scorer.error = self.rewriter.error = error
