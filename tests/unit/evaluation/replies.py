"""Search replies and a client that gives them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from shared.contracts.search import SearchReply, SearchRequest
from tests.unit.cli.fakes import citation, search_reply


def page_id(path: str) -> str:
    """Return an id that follows from the path."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, path))


def reply(
    *paths: str,
    text: str = "",
    similarities: Sequence[float | None] = (),
    **fields: object,
) -> SearchReply:
    """Return a reply that cites these pages in this order."""
    cosines = [*similarities, *[None] * len(paths)]
    cited = [
        citation(n, path, cosine, path=path, ref={"id": page_id(path), "title": path, "slug": "slug"})
        for n, (path, cosine) in enumerate(zip(paths, cosines, strict=False), start=1)
    ]
    return search_reply(*cited).model_copy(update={"text": text, **fields})


@dataclass
class ScriptedClient:
    """Gives each query's reply, counts how many are on their way at once, and keeps the requests."""

    replies: Callable[[SearchRequest], SearchReply]
    requests: list[SearchRequest] = field(default_factory=list[SearchRequest])
    open: int = 0
    most_open: int = 0

    async def search(self, vault_id: str, request: SearchRequest) -> SearchReply:
        self.requests.append(request)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        await asyncio.sleep(0)
        self.open -= 1
        return self.replies(request)
