"""A retrieval service over fakes, and chunks to build it from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from uuid import UUID

from services.retrieval.ports import LiveChunk, NewerSource
from services.retrieval.profile_settings import BUILT_IN
from services.retrieval.profiles import Profiles, retrievers
from services.retrieval.recent_vaults import RecentVaults
from services.retrieval.searching import Search, SearchBounds
from shared.contracts.search import SearchReply, SearchRequest
from shared.ids import content_hash
from shared.tokens import estimate_tokens
from tests.fakes.in_memory_live_pages import InMemoryLivePages, PageRow
from tests.fakes.in_memory_vector_store import InMemoryVectorStore
from tests.fakes.watched_search import WatchedEmbedder, WatchedEncoder, WatchedSearch, store_of

VAULT = "garden"


def page(path: str, *texts: str, links: tuple[str, ...] = (), **more: object) -> PageRow:
    """Return a page of the test's vault; `more` become payload fields."""
    return PageRow(VAULT, path, texts, links=links, fields=more)


NEWER = NewerSource("raw/minutes.md", date(2025, 9, 2), by_file=False, page_as_of=date(2025, 7, 12))


def chunk(text: str, *, page_number: int = 1, start: int = 0, index: int = 0, title: str = "Title") -> LiveChunk:
    """Return a chunk of a page that is known by a number."""
    return LiveChunk(
        chunk_id=UUID(int=page_number * 1_000_000 + start),
        page_id=UUID(int=page_number),
        index=index,
        content_hash=content_hash(text),
        heading_path=(),
        char_start=start,
        char_end=start + len(text),
        line_start=1,
        line_end=2,
        token_count=estimate_tokens(text),
        text=text,
        title=title,
        slug="title",
        path=f"wiki/{page_number}.md",
        disk_path=f"wiki/{page_number}.md",
        revision=1,
    )


@dataclass(slots=True)
class Scene:
    """The service and everything that it talks to."""

    pages: InMemoryLivePages
    store: InMemoryVectorStore
    watched: WatchedSearch
    embedder: WatchedEmbedder
    encoder: WatchedEncoder
    service: Search

    @property
    def space(self) -> str:
        return self.embedder.space.name

    async def search(self, query: str, **fields: object) -> SearchReply:
        return await self.service.search(VAULT, SearchRequest.model_validate({"query": query, **fields}))


async def scene(*rows: PageRow, embedded: bool = True, bounds: SearchBounds | None = None) -> Scene:
    """Return a service whose vault holds these pages."""
    pages = InMemoryLivePages({VAULT: list(rows)})
    embedder = WatchedEmbedder()
    store = await store_of(pages, embedder, embedded=embedded)
    watched, encoder = WatchedSearch(store), WatchedEncoder()
    profiles = Profiles(retrievers(BUILT_IN, watched, embedder, encoder), default="hybrid")
    vaults = RecentVaults(pages, ("index", "log", "overview"), max_age_s=0.0)
    return Scene(pages, store, watched, embedder, encoder, Search(pages, vaults, profiles, bounds))


def titles(reply: SearchReply) -> list[str]:
    """Return the titles of the citations in their order."""
    return [citation.ref.title for citation in reply.citations]
