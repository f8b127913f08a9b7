"""The catalogue (Postgres) as retrieval reads it: which chunks are live, what they say, how pages hang together.

It decides what is live; a retriever (retriever.py) may find chunks that no longer are. Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class NewerSource:
    """The newest of the pages that a page rests on, when it is newer than the page."""

    path: str
    """As the disk spells it."""
    written_on: date
    by_file: bool
    """`written_on` is when the file changed: the source names no day."""
    page_as_of: date
    """Day up to which the page was kept true; before `written_on`."""


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
    newer_source: NewerSource | None = None
    """None: the page is not known to be older than a source."""


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
    """The strongest neighbours of one page in the page graph."""

    title: str
    slug: str
    """Of the page itself."""
    linked: tuple[tuple[UUID, float], ...]
    """Other pages and the weights of their edges, strongest first, ties by id. Not empty."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How much of the page graph around some pages is read."""

    steps: int
    """1 or 2."""
    total: int
    """Pages wanted in the end."""
    fan_out: int
    """Neighbours of one page, at most."""
    degree_limit: int
    """A page that is linked with more pages than this is left out."""
    step_decay: float
    """What the second step leaves of a weight."""


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

    async def neighbours(self, pages: Mapping[UUID, float], reach: Reach) -> Mapping[UUID, Neighbours]:
        """Return neighbours of these pages and, for two steps, of pages next to them; hubs have none.

        `pages` come with their standing, 0 to 1: what is next to a page ranks by the edge's weight times that. What
        can't be among the best `total` in the end may be left out. An edge weighs at least what its links do, 3.0
        per direction, also before the edges of a new page are settled.
        """
        ...

    async def openings(self, vault_id: str, choice: Choice) -> Snapshot:
        """Return one live chunk for each page of `choice`. Raises NotFound for a vault that is unknown."""
        ...

    async def beside(self, vault_id: str, chunk_ids: Sequence[UUID]) -> Snapshot:
        """Return the chunk before and the chunk behind each of these on its page. Raises NotFound as snapshot does."""
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
