"""Waits until a content of a file is searchable, or embedded (use case behind `ingest.wait`)."""

from __future__ import annotations

import asyncio
from typing import Protocol

from services.ingest.ports import Ledger
from services.ingest.shelf import LivePage, Slot
from shared.contracts.ingest import WaitReply, WaitRequest
from shared.errors import DeadlineExceeded, InvalidInput
from shared.ids import file_key, normal_path

_RECHECK_S = 0.5
"""A page event may be missed while the bus reconnects: look again this often."""


class PageNews(Protocol):
    """Tells that something was said about pages of a vault."""

    async def next(self, vault_id: str, timeout_s: float) -> None:
        """Return when the next page event of the vault comes, or after the timeout."""
        ...


class Waiting:
    """Answers WaitRequest."""

    def __init__(self, ledger: Ledger, news: PageNews, space: str) -> None:
        self._ledger = ledger
        self._news = news
        self._space = space

    async def wait(self, vault_id: str, request: WaitRequest) -> WaitReply:
        """Return when the content is there. Raises DeadlineExceeded, or InvalidInput when the file was rejected."""
        key = file_key(request.path)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + request.timeout_ms / 1000
        while True:
            news = asyncio.ensure_future(self._news.next(vault_id, _RECHECK_S))
            try:
                found = await self._ledger.slot(vault_id, key)
                if found is not None and self._is_there(request, *found):
                    data_version = await self._ledger.data_version(vault_id)
                    return WaitReply(path=found[0].path, revision=found[0].revision, data_version=data_version)
                await asyncio.wait({news}, timeout=deadline - loop.time())
            finally:
                news.cancel()
            if loop.time() >= deadline:
                raise DeadlineExceeded(
                    f"{normal_path(request.path)} is not {request.until} with that content after "
                    f"{request.timeout_ms} ms: `citebus status` shows what is waiting."
                )

    def _is_there(self, request: WaitRequest, slot: Slot, page: LivePage | None) -> bool:
        if slot.state == "rejected" and slot.content_hash in (None, request.content_hash):  # None: it was never read
            raise InvalidInput(f"{slot.path} was rejected: {slot.reason}")
        if slot.content_hash != request.content_hash:
            return False
        if page is None or slot.state != "indexed":
            return False
        return request.until == "searchable" or all(chunk.embedded_in == self._space for chunk in page.chunks)
