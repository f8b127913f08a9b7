"""What retrieval asks of the outside: retrievers that find chunks, and the catalogue that knows which are live.

The catalogue (Postgres) decides what is live; a retriever may find chunks that no longer are. Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from shared.embedding.embedder import Vector
from shared.errors import RetryableError
from shared.vectors.store import PointFilter, PointQuery, ScoredPoint, SparseVector


@dataclass(slots=True)
class QueryVectors:
    """What embedding gave within one request, by text: none is embedded twice, no failing provider asked twice."""

    outcomes: dict[str, Vector | RetryableError] = field(default_factory=dict[str, "Vector | RetryableError"])
    spent_s: float = 0.0
    """Time that went into embedding, so that it is told apart from searching."""


@dataclass(frozen=True, slots=True)
class RetrievalQuery:
    """One search in one space."""

    text: str
    languages: tuple[str, ...]
    """ISO 639-1 codes of the vault's pages: how the words may have been stemmed."""
    space: str
    where: PointFilter
    limit: int
    """How deep each ranking is read; a retriever may return up to this many hits per ranking that it fuses."""
    embed_timeout_s: float
    vectors: QueryVectors = field(default_factory=QueryVectors)
    """Shared by all queries of one request."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that was found, live or not."""

    chunk_id: UUID
    score: float
    """Higher is better; comparable within one answer only."""
    similarity: float | None
    """Cosine of query and chunk, −1 to 1; None when no dense vector was compared."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Hits without repeats, best first, ties by id."""

    hits: tuple[Hit, ...]
    exhausted: bool
    """A larger `limit` would find nothing more."""
    degraded: str | None = None
    """Why the retriever did not run whole."""


class Retriever(Protocol):
    """Finds chunks for a query. Safe to call concurrently."""

    async def retrieve(self, query: RetrievalQuery) -> Retrieved:
        """Return what the store has; raises RetryableError when the store, or an embedder that it needs, is away."""
        ...


class VectorSearch(Protocol):
    """The one method of a VectorStore that retrieval uses, so that it can't write."""

    async def search(self, space: str, queries: Sequence[PointQuery]) -> list[list[ScoredPoint]]:
        """See VectorStore.search."""
        ...


class LexicalEncoder(Protocol):
    """Turns a query into term weights, as the chunks were."""

    def query(self, text: str, languages: Sequence[str]) -> SparseVector:
        """Return the weights of the query's terms in any of the languages; empty when it has no terms."""
        ...


@dataclass(frozen=True, slots=True)
class LiveChunk:
    """A live chunk with its page, as one snapshot shows them. Ranges are half-open, in the decoded file."""

    chunk_id: UUID
    page_id: UUID
    index: int
    content_hash: str
    heading_path: tuple[str, ...]
    char_start: int
    char_end: int
    line_start: int
    line_end: int
    token_count: int
    text: str
    title: str
    slug: str
    path: str
    """NFC, relative to the vault."""
    disk_path: str
    revision: int


@dataclass(frozen=True, slots=True)
class VaultState:
    """What holds for a vault at one data version."""

    data_version: int
    never_cite: tuple[str, ...]
    """Path prefixes of pages that are indexed, never cited."""

    def cites(self, path: str) -> bool:
        """Tell whether a page at `path` may be cited."""
        return not path.startswith(self.never_cite)


@dataclass(frozen=True, slots=True)
class VaultTraits:
    """What follows from all pages of a vault together."""

    languages: tuple[str, ...]
    hubs: frozenset[UUID]
    """Pages whose stem says that they list other pages."""
    uncited: bool = True
    """Some page is never cited."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Rows of one moment: everything in it belongs to the same data version."""

    vault: VaultState
    chunks: Mapping[UUID, LiveChunk]
    """By chunk id, in the order asked for; what is not live is absent."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Pages that one page links to and that link to it: resolved links, ascending by id, cut at the limit asked for."""

    outgoing: tuple[UUID, ...]
    incoming: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class ChunkMark:
    """A chunk of a page without its text."""

    chunk_id: UUID
    index: int
    content_hash: str


@dataclass(frozen=True, slots=True)
class Outline:
    """A live page and its chunks in order."""

    data_version: int
    title: str
    slug: str
    disk_path: str
    paths: tuple[str, ...]
    """Where the page is, then where it has been, at most 8 in all."""
    marks: tuple[ChunkMark, ...]


class LivePages(Protocol):
    """The catalogue, read only. Each call is one round trip and one snapshot, and raises Unavailable."""

    async def vault(self, vault_id: str) -> tuple[VaultState, str | None, bool] | None:
        """Return the vault's state, the live space's name (None: none yet), and whether no other vault exists.

        None for a vault that is unknown.
        """
        ...

    async def traits(self, vault_id: str, hub_stems: Sequence[str]) -> VaultTraits:
        """Return the languages of the vault's pages, and at most 10,000 hubs; slow enough to be kept for a while."""
        ...

    async def snapshot(self, vault_id: str, chunk_ids: Sequence[UUID]) -> Snapshot:
        """Return those of the chunks that are live in this vault. Raises NotFound for a vault that is unknown."""
        ...

    async def neighbours(self, page_ids: Sequence[UUID], limit: int) -> Mapping[UUID, Neighbours]:
        """Return the linked pages of each page, at most `limit` in each direction; never the page itself."""
        ...

    async def openings(self, vault_id: str, choice: Choice) -> Snapshot:
        """Return one live chunk for each page of `choice`. Raises NotFound for a vault that is unknown."""
        ...

    async def outline(self, vault_id: str, page_id: UUID) -> Outline | None:
        """Return the page's chunks; None when the page is not live in this vault. Raises NotFound as snapshot does."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """Which chunk of each page: the first of `ranked` that is the page's, else its opening chunk if `or_first`.

    Pages come in the order of `page_ids`, without those that are never cited, and only `limit` of them.
    """

    page_ids: Sequence[UUID]
    ranked: Sequence[UUID]
    or_first: bool
    limit: int
