"""What chunks hold, read from a real Postgres; and profiles that refine, on the whole system."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import numpy as np
import pytest

from deploy.embedded.client import BusClient
from services.retrieval.adapters.postgres.chunk_contents import PostgresChunkContents
from services.retrieval.profile_settings import BUILT_IN
from shared.contracts.search import SearchRequest
from shared.embedding.hashing import HashingEmbedder
from shared.errors import InvalidInput, Unavailable
from shared.postgres.pool import Pool, open_pool
from tests.fakes.in_memory_live_pages import SPACE
from tests.real.test_retrieval_postgres import OTHER, POND, ROSE, ROWS, fill
from tests.system import System


@pytest.fixture
async def reader(database: str) -> AsyncGenerator[Pool]:
    vector = (await HashingEmbedder().embed_query("roses are red")).astype("<f4").tobytes()
    async with open_pool(database) as writer:
        await fill(writer, ROWS)
        digest = ROSE.chunks()[0].content_hash
        await writer.execute(
            "INSERT INTO embeddings (space, text_hash, vector) VALUES ($1, $2, $3)", SPACE, digest, vector
        )
    async with open_pool(database, read_only=True) as pool:
        yield pool


async def test_texts_are_those_of_live_chunks_of_the_vault(reader: Pool) -> None:
    first, second = ROSE.chunks()
    ids = [second.chunk_id, OTHER.chunks()[0].chunk_id, first.chunk_id]

    found = await PostgresChunkContents(reader).texts("garden", ids)

    assert found == {first.chunk_id: "roses are red", second.chunk_id: "roses need sun"}


async def test_vectors_are_those_that_the_space_has(reader: Pool) -> None:
    first = ROSE.chunks()[0].chunk_id
    ids = [first, POND.chunks()[0].chunk_id, OTHER.chunks()[0].chunk_id]
    contents = PostgresChunkContents(reader)

    found = await contents.vectors("garden", SPACE, ids)

    assert list(found) == [first]
    assert np.array_equal(found[first], await HashingEmbedder().embed_query("roses are red"))
    assert await contents.vectors("garden", "other-space-256-c1", ids) == {}


async def test_a_server_that_is_away_is_unavailable(reader: Pool) -> None:
    await reader.close()
    with pytest.raises(Unavailable, match="reading the texts"):
        await PostgresChunkContents(reader).texts("garden", [])


async def test_the_running_service_says_which_profiles_it_has(system: System, nats_url: str) -> None:
    async with BusClient(nats_url, system.topology) as client:
        listed = (await client.profiles()).profiles

    assert {profile.name for profile in listed} == set(BUILT_IN)
    assert [profile.name for profile in listed if profile.default] == ["hybrid"]
    assert {profile.name for profile in listed if not profile.ready} == {"reranked", "multi-query"}


async def test_refined_profiles_answer_on_the_whole_system(system: System, nats_url: str) -> None:
    await system.write("wiki/rose.md", "# Rose\n\nRoses are red.\n")
    await system.write("wiki/copy.md", "# Rose\n\nRoses are red.\n")
    await system.write("wiki/oak.md", "# Oak\n\nA tall oak with red leaves.\n")
    async with BusClient(nats_url, system.topology) as client:
        diverse = await client.search(system.vault_id, SearchRequest(query="red roses", profile="diverse"))
        with pytest.raises(InvalidInput, match="'reranked' can't be used here"):
            await client.search(system.vault_id, SearchRequest(query="red roses", profile="reranked"))

    assert (diverse.retriever, diverse.degraded) == ("diverse", None)
    assert [citation.ref.title for citation in diverse.citations] == ["Rose", "Oak", "Rose"]
