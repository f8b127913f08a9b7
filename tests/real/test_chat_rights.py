"""The chat service's role keeps conversations and reads pages, and can change nothing else."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg
import pytest

from services.chat.adapters.postgres.grounding import PostgresGrounding
from services.chat.adapters.postgres.turns import PostgresTurns
from services.chat.ports import NewTurn
from shared.errors import InvalidInput, NotFound
from shared.postgres.pool import Pool, open_pool
from shared.postgres.roles import ChatRole
from shared.provision import provision_database
from shared.topology import Topology


@pytest.fixture
async def pool(database: str, topology: Topology) -> AsyncGenerator[Pool]:
    """Yield a pool of a chat role that no other test uses."""
    role = ChatRole(f"chat_{topology.namespace}", "pass'word")
    await provision_database(database, chat=role)
    await provision_database(database, chat=role)  # again: nothing changes
    parts = urlsplit(database)
    dsn = parts._replace(netloc=f"{role.name}:pass%27word@{parts.hostname}:{parts.port}").geturl()
    try:
        async with open_pool(dsn) as pool:
            yield pool
    finally:
        owner = await asyncpg.connect(database)
        await owner.execute(f"DROP OWNED BY {role.name}; DROP ROLE {role.name}")
        await owner.close()


async def test_the_chat_role_keeps_conversations(pool: Pool) -> None:
    begun = await PostgresTurns(pool).begin(NewTurn("kitchen", uuid4(), None, "How much salt?"))
    await pool.execute("DELETE FROM conversations WHERE conversation_id = $1", begun.conversation_id)
    assert await pool.fetch("SELECT FROM messages") == []


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO vaults (vault_id, settings) VALUES ('x', '{}')",
        "UPDATE pages SET title = 'x'",
        "DELETE FROM chunks",
        "SELECT * FROM embeddings",
        "CREATE TABLE own (x integer)",
    ],
)
async def test_the_chat_role_can_do_nothing_else(pool: Pool, statement: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await pool.execute(statement)


async def test_a_name_that_is_none_is_refused(database: str) -> None:
    with pytest.raises(InvalidInput, match="no role name"):
        await provision_database(database, chat=ChatRole("x; DROP TABLE pages", "p"))


async def test_grounding_is_purpose_and_overview_in_this_order(pool: Pool, database: str) -> None:
    owner = await asyncpg.connect(database)
    await owner.execute("INSERT INTO vaults (vault_id, settings) VALUES ('kitchen', '{}'), ('empty', '{}')")
    for path, texts in (("overview.md", ["All of it."]), ("purpose.md", ["Why.", "More."]), ("other.md", ["No."])):
        page_id = await owner.fetchval(
            "INSERT INTO pages (page_id, vault_id, path, disk_path, revision, content_hash, stem, title, slug, kind,"
            " language, front_matter) VALUES ($1, 'kitchen', $2, $2, 1, '', $2, $2, $2, 'page', 'en', '{}')"
            " RETURNING page_id",
            uuid4(),
            path,
        )
        for index, text in enumerate(texts):
            await owner.execute(
                "INSERT INTO chunks (chunk_id, page_id, vault_id, chunk_index, content_hash, text_hash, point_hash,"
                " heading_path, char_start, char_end, line_start, line_end, token_count, text, embed_text)"
                " VALUES ($1, $2, 'kitchen', $3, '', '', '', '{}', 0, 1, 1, 2, 1, $4, $4)",
                uuid4(),
                page_id,
                index,
                text,
            )
    await owner.close()
    grounding = PostgresGrounding(pool)
    assert await grounding.grounding("kitchen") == ["Why.\n\nMore.", "All of it."]
    assert await grounding.grounding("empty") == []
    with pytest.raises(NotFound):
        await grounding.grounding("no-such-vault")
