"""What the service answers: a typed request with its vault in, a reply out; errors are turned into replies outside."""

from __future__ import annotations

from services.retrieval.resolving import Resolve
from services.retrieval.searching import Search
from shared.contracts.search import ResolveReply, ResolveRequest, SearchReply, SearchRequest


class Handlers:
    """Handlers of the subjects `search` and `resolve`; the vault comes from the subject, so the broker guards it."""

    def __init__(self, search: Search, resolve: Resolve) -> None:
        self._search = search
        self._resolve = resolve

    async def on_search(self, vault_id: str, request: SearchRequest) -> SearchReply:
        """Answer a search. Raises as Search.search does."""
        return await self._search.search(vault_id, request)

    async def on_resolve(self, vault_id: str, request: ResolveRequest) -> ResolveReply:
        """Say what became of a citation. Raises as Resolve.resolve does."""
        return await self._resolve.resolve(vault_id, request)
