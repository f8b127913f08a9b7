"""Who may read a conversation (table shares), behind the port ShareStore. Tokens are stored as hashes only."""

from __future__ import annotations

from uuid import UUID

from services.chat.adapters.postgres import conversation_statements as statements
from services.chat.adapters.postgres.conversations import unknown_conversation
from services.chat.conversation_store import MOST_SHARES
from shared.errors import InvalidInput, NotFound
from shared.postgres.pool import Connection, Pool, translated


class PostgresShares:
    """Implements ShareStore."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def share(self, vault_id: str, conversation_id: UUID, share_id: UUID, token_hash: str) -> None:
        """See ShareStore.share."""
        with translated("sharing a conversation"):
            async with self._pool.acquire() as connection, connection.transaction():
                await _lock(connection, vault_id, conversation_id)
                await connection.execute(statements.FORGET_REVOKED, conversation_id)
                if await connection.fetchval(statements.VALID_SHARES, conversation_id) >= MOST_SHARES:
                    raise InvalidInput(f"The conversation has {MOST_SHARES} shares already: revoke one of them.")
                await connection.execute(statements.SHARE, share_id, conversation_id, vault_id, token_hash)

    async def unshare(self, vault_id: str, conversation_id: UUID, share_id: UUID | None) -> int:
        """See ShareStore.unshare."""
        with translated("revoking shares"):
            async with self._pool.acquire() as connection, connection.transaction():
                await _lock(connection, vault_id, conversation_id)
                revoked = await connection.fetch(statements.UNSHARE, conversation_id, share_id)
                if share_id is not None and not revoked:
                    await _check_share(connection, conversation_id, share_id)
        return len(revoked)

    async def shared(self, vault_id: str, token_hash: str) -> UUID:
        """See ShareStore.shared."""
        with translated("looking a share up"):
            found: UUID | None = await self._pool.fetchval(statements.SHARED, vault_id, token_hash)
        if found is None:
            raise NotFound("The share does not exist, or was revoked: ask its owner for another one.")
        return found


async def _lock(connection: Connection, vault_id: str, conversation_id: UUID) -> None:
    if not await connection.fetch(statements.LOCK, vault_id, conversation_id):
        raise unknown_conversation(vault_id, conversation_id)


async def _check_share(connection: Connection, conversation_id: UUID, share_id: UUID) -> None:
    if not await connection.fetchval(statements.SHARE_EXISTS, conversation_id, share_id):
        raise NotFound(f"The conversation {conversation_id} has no share {share_id}.")
