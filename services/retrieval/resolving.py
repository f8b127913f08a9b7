"""The use case of resolving a citation: is the cited passage still there, elsewhere, reworded, or gone.

A citation keeps no text, only ids. A chunk's id follows from path, index and content, so the index that a vanished
chunk had is found by deriving ids until one matches; the passage nearest to it is what stands there now.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from services.retrieval.assembly import page_ref, passage
from services.retrieval.ports import ChunkMark, LiveChunk, LivePages, Outline
from shared.contracts.search import PageRef, ResolveReply, ResolveRequest
from shared.errors import Unavailable
from shared.ids import chunk_id

_ATTEMPTS = 3
"""Reads begun anew because the page changed between two of them."""

_LOST_CHUNKS = 256
"""Indices tried beyond the page's present chunks: how many chunks a page may have lost for the nearest to be found."""


class Resolve:
    """Answers what became of a citation; safe to use concurrently."""

    def __init__(self, pages: LivePages) -> None:
        self._pages = pages

    async def resolve(self, vault_id: str, request: ResolveRequest) -> ResolveReply:
        """Return the state and, unless the page is gone, the passage that stands there now.

        Raises NotFound for an unknown vault, Unavailable when the catalogue is away or the page keeps changing.
        """
        for _ in range(_ATTEMPTS):
            reply = await self._attempt(vault_id, request)
            if reply is not None:
                return reply
        raise Unavailable("The page is changing just now: ask again.", retry_after_s=0.5)

    async def _attempt(self, vault_id: str, request: ResolveRequest) -> ResolveReply | None:
        cited = await self._pages.snapshot(vault_id, [request.chunk_id])
        chunk = cited.chunks.get(request.chunk_id)
        if chunk is not None and chunk.page_id == request.page_id and chunk.content_hash == request.content_hash:
            return _reply("current", chunk, cited.vault.data_version)
        outline = await self._pages.outline(vault_id, request.page_id)
        if outline is None:
            return ResolveReply(state="deleted", data_version=cited.vault.data_version)
        if not outline.marks:
            ref = PageRef(id=request.page_id, title=outline.title, slug=outline.slug)
            return ResolveReply(state="changed", ref=ref, path=outline.disk_path, data_version=outline.data_version)
        return await self._nearest(vault_id, request, outline)

    async def _nearest(self, vault_id: str, request: ResolveRequest, outline: Outline) -> ResolveReply | None:
        same = [mark for mark in outline.marks if mark.content_hash == request.content_hash]
        mark = _closest(same or outline.marks, _former_index(vault_id, request, outline))
        snapshot = await self._pages.snapshot(vault_id, [mark.chunk_id])
        chunk = snapshot.chunks.get(mark.chunk_id)
        if chunk is None or chunk.page_id != request.page_id or snapshot.vault.data_version != outline.data_version:
            return None
        return _reply("moved" if same else "changed", chunk, outline.data_version)


def _former_index(vault_id: str, request: ResolveRequest, outline: Outline) -> int:
    """Return the index that the cited chunk had; 0 when it can't be told."""
    for path in outline.paths:
        for index in range(len(outline.marks) + _LOST_CHUNKS):
            if chunk_id(vault_id, path, index, request.content_hash) == request.chunk_id:
                return index
    return 0


def _closest(marks: Sequence[ChunkMark], index: int) -> ChunkMark:
    return min(marks, key=lambda mark: (abs(mark.index - index), mark.index))


def _reply(state: Literal["current", "moved", "changed"], chunk: LiveChunk, data_version: int) -> ResolveReply:
    return ResolveReply(
        state=state,
        ref=page_ref(chunk),
        path=chunk.disk_path,
        passage=passage(chunk),
        text=chunk.text,
        data_version=data_version,
    )
