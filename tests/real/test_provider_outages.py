"""An embedding provider that asks to wait, is slow, or fails now and then: pages are searchable all the while."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from shared.embedding.http_embedder import HttpEmbedder
from shared.embedding.openai_compatible import OpenAICompatibleWire
from shared.embedding.provider import Conduct, Endpoint, ModelSpec
from shared.embedding.retrying import RetryPolicy
from shared.topology import Topology
from tests.fakes.embedding_servers import Answer, CutOff, EmbeddingServer, Fault, Hold, embedding_server
from tests.real.outages import all_is_well, note
from tests.system import System, running_system

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
async def provider() -> AsyncGenerator[EmbeddingServer]:
    async with embedding_server("openai") as server:
        yield server


@pytest.fixture
async def system(
    nats_url: str, topology: Topology, database: str, tmp_path: Path, provider: EmbeddingServer
) -> AsyncGenerator[System]:
    """Yield a system whose embedder gives up soon, so that the delivery policy has to wait."""
    retry = RetryPolicy(attempts=2, first_delay_s=0.05, max_retry_after_s=0.5)
    async with (
        embedder_of(provider, retry) as embedder,
        running_system(nats_url, topology, database, tmp_path, embedder=embedder) as running,
    ):
        yield running


@asynccontextmanager
async def embedder_of(provider: EmbeddingServer, retry: RetryPolicy) -> AsyncGenerator[HttpEmbedder]:
    model = ModelSpec("scripted", 64)
    endpoint = Endpoint(provider.url, timeout_s=30.0)
    embedder = HttpEmbedder(OpenAICompatibleWire("scripted"), model, endpoint, Conduct(retry=retry))
    yield embedder
    await embedder.aclose()


async def found_lexically(system: System, n: int) -> None:
    """Save a note and find it, though no vector is there."""
    await system.write(f"n{n}.md", note(n), until="searchable")
    assert (await system.search(f"m{n}x", profile="sparse")).citations[0].path == f"n{n}.md"


def document_texts(provider: EmbeddingServer) -> list[str]:
    """Return the texts of notes that the provider was asked for, refused ones too."""
    return [text for request in provider.requests for text in request.texts if "marker" in text]


async def test_a_wait_that_the_provider_asks_for_is_kept_and_pages_are_found_meanwhile(
    system: System, provider: EmbeddingServer
) -> None:
    provider.will(Answer(429, headers={"Retry-After": "2"}))
    (system.vault / "n0.md").write_text(note(0))
    await provider.arrivals.acquire()
    refused_at = time.monotonic()
    assert (await system.wait("n0.md")).data_version > 0
    assert (await system.search("m0x", profile="sparse")).citations[0].path == "n0.md"
    await system.wait("n0.md", until="embedded")
    assert time.monotonic() - refused_at >= 2.0
    assert len(document_texts(provider)) == 2
    await all_is_well(system, 1)


async def test_a_slow_provider_holds_no_edit_back(system: System, provider: EmbeddingServer) -> None:
    hold = Hold(asyncio.Event())
    provider.will(hold)
    (system.vault / "n0.md").write_text(note(0))
    await provider.arrivals.acquire()
    for n in range(1, 6):
        await found_lexically(system, n)
    assert (await system.status()).embedded_chunks < 6
    hold.release.set()
    await all_is_well(system, 6)
    assert len(document_texts(provider)) == 6


@pytest.mark.parametrize("fault", [Answer(503), Answer(500, b"<html>"), CutOff(30)], ids=["503", "500", "cut off"])
async def test_what_fails_now_is_embedded_later(system: System, provider: EmbeddingServer, fault: Fault) -> None:
    provider.will(fault, fault, fault)
    for n in range(3):
        await found_lexically(system, n)
    await all_is_well(system, 3)


async def test_texts_that_a_provider_refuses_for_good_are_put_aside_and_the_others_embedded(
    system: System, provider: EmbeddingServer
) -> None:
    provider.refuse_texts_over_chars = 500
    (system.vault / "long.md").write_text("# Long\n\n" + "The refusable words go on and on. " * 30)
    for n in range(3):
        (system.vault / f"n{n}.md").write_text(note(n))
    for n in range(3):
        await system.wait(f"n{n}.md", until="embedded", timeout_ms=30_000)
    assert (await system.search("refusable", profile="sparse")).citations[0].path == "long.md"
    status = await system.status()
    assert (status.pages, status.chunks - status.embedded_chunks) == (4, 1)
