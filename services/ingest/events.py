"""Which events a commit owes, and which texts wait for a vector. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from services.ingest.page import PreparedPage
from services.ingest.ports import NewPage
from services.ingest.shelf import Effected, LivePage, Shelf
from shared.contracts.embed import ChunkText
from shared.contracts.pages import PageEmbedded, PageEvent, PageIndexed, PageMoved, PageRejected, PageRemoved


def page_events(
    effects: Iterable[Effected], shelf: Shelf, pages: Mapping[UUID, NewPage], space: str, version: int
) -> list[PageEvent]:
    """Return the events of a batch in order; those of an earlier delivery are given again, in case it died before."""
    return [event for effected in effects for event in _of(effected, shelf, pages, space, version)]


def _of(effected: Effected, shelf: Shelf, pages: Mapping[UUID, NewPage], space: str, version: int) -> list[PageEvent]:
    message = effected.change.message
    place: dict[str, Any] = {
        "vault_id": message.vault_id,
        "page_id": effected.page_id,
        "path": message.path,
        "revision": effected.change.revision,
    }
    if effected.effect == "rejected":
        reason = effected.change.outcome if isinstance(effected.change.outcome, str) else message.reason
        return [PageRejected(**place, content_hash=message.content_hash, reason=reason or "unknown")]
    if effected.effect == "removed":
        return [PageRemoved(**place, data_version=version)] if effected.page_id not in shelf.pages else []
    page = shelf.pages.get(effected.page_id)
    if page is None or page.path != message.path or not (effected.effect in ("indexed", "moved") or effected.repeat):
        return []
    return _live(effected, page, pages, space, version)


def _live(
    effected: Effected, page: LivePage, pages: Mapping[UUID, NewPage], space: str, version: int
) -> list[PageEvent]:
    place: dict[str, Any] = {
        "vault_id": effected.change.message.vault_id,
        "page_id": page.page_id,
        "path": page.path,
        "revision": page.revision,
    }
    new = pages.get(page.page_id)
    stored = [item.stored for item in new.chunks] if new else list(page.chunks)
    events: list[PageEvent] = []
    if effected.effect == "moved" and effected.old_path is not None:
        events.append(PageMoved(**place, old_path=effected.old_path, data_version=version))
    indexed = PageIndexed(**place, content_hash=page.content_hash, chunk_count=len(stored), data_version=version)
    events.append(indexed)
    if all(chunk.embedded_in == space for chunk in stored):
        events.append(PageEmbedded(**place, space=space))
    return events


def waiting_texts(
    effects: Iterable[Effected], shelf: Shelf, pages: Mapping[UUID, NewPage], space: str
) -> list[ChunkText]:
    """Return each distinct text that a live chunk of this batch has no vector for."""
    waiting: dict[str, ChunkText] = {}
    for effected in effects:
        page = shelf.pages.get(effected.page_id)
        if page is None or not isinstance(effected.change.outcome, PreparedPage):
            continue
        new = pages.get(page.page_id)
        stored = [item.stored for item in new.chunks] if new else list(page.chunks)
        lacking = {chunk.text_hash for chunk in stored if chunk.embedded_in != space}
        for chunk in effected.change.outcome.chunks:
            if chunk.text_hash in lacking:
                waiting[chunk.text_hash] = ChunkText(space=space, text_hash=chunk.text_hash, text=chunk.embed_text)
    return list(waiting.values())
