"""What the product says of its pages, as it says it: counts and times without asking, so without disturbing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from nats.aio.client import Client
from nats.aio.msg import Msg

from shared.contracts.pages import PageEmbedded, PageIndexed, PageMoved, PageRemoved
from shared.topology import Topology


@dataclass(slots=True)
class News:
    """What was heard since `forget`."""

    indexed: dict[str, str] = field(default_factory=dict[str, str])
    """Path to the content hash that became searchable last."""
    embedded: set[str] = field(default_factory=set[str])
    """Paths whose page has all its vectors."""
    moved: dict[str, str] = field(default_factory=dict[str, str])
    """Old path to new path."""
    removed: set[str] = field(default_factory=set[str])
    """Paths whose page is gone."""
    texts: int = 0
    """Texts that were queued for the embedder."""
    indexed_at: float = 0.0
    """When a page was announced as searchable last, by time.perf_counter."""
    last: float = 0.0
    """When a page event came last, by time.perf_counter."""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def forget(self) -> None:
        """Begin anew."""
        self.indexed.clear()
        self.embedded.clear()
        self.moved.clear()
        self.removed.clear()
        self.texts = 0

    async def until(self, is_so: Callable[[News], bool], timeout_s: float) -> float:
        """Return the time of the event that made it so, by time.perf_counter; raises TimeoutError."""
        async with asyncio.timeout(timeout_s):
            while not is_so(self):
                self._changed.clear()
                await self._changed.wait()
        return self.last

    def hear(self, event: str, data: bytes) -> None:
        """Take in a page event."""
        self.last = time.perf_counter()
        if event == "indexed":
            indexed = PageIndexed.model_validate_json(data)
            self.indexed[indexed.path] = indexed.content_hash
            self.indexed_at = self.last
        elif event == "embedded":
            self.embedded.add(PageEmbedded.model_validate_json(data).path)
        elif event == "moved":
            moved = PageMoved.model_validate_json(data)
            self.moved[moved.old_path] = moved.path
        elif event == "removed":
            self.removed.add(PageRemoved.model_validate_json(data).path)
        self._changed.set()


@asynccontextmanager
async def listening(client: Client, topology: Topology, vault_id: str) -> AsyncGenerator[News]:
    """Listen to the page events of a vault, and count the texts of all vaults, until the block ends."""
    news = News()

    async def on_page(message: Msg) -> None:
        news.hear(message.subject.rpartition(".")[2], message.data)

    async def on_text(_: Msg) -> None:
        news.texts += 1

    pages = await client.subscribe(topology.page(vault_id, "*"), cb=on_page)
    texts = await client.subscribe(topology.chunk_text("*", "*"), cb=on_text)
    await client.flush()
    try:
        yield news
    finally:
        await pages.unsubscribe()
        await texts.unsubscribe()
