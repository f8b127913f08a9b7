"""What a vault says about itself, from the chunks of its live pages (tables vaults, pages, chunks; read only)."""

from __future__ import annotations

from services.chat.adapters.postgres import statements
from shared.errors import NotFound
from shared.postgres.pool import Pool, translated

_PAGES = ("purpose.md", "overview.md")
"""At the vault's root, in the order in which they are read."""

_MOST_CHUNKS = 20
"""Of one page: more than a twentieth of common windows holds."""


class PostgresGrounding:
    """Implements GroundingPages."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def grounding(self, vault_id: str) -> list[str]:
        """See GroundingPages.grounding."""
        with translated("reading grounding pages"):
            rows = await self._pool.fetch(statements.GROUNDING, vault_id, list(_PAGES), _MOST_CHUNKS)
        if not rows:
            raise NotFound(f"There is no vault '{vault_id}'.")
        texts: dict[str, str] = {row["path"]: row["text"] for row in rows if row["text"]}
        return [texts[path] for path in _PAGES if path in texts]
