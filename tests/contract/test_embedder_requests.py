"""How the HTTP embedders ask: limits of a request, requests at once, time, cancellation, key, prefixes; real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest

from shared.embedding.http_embedder import HttpEmbedder
from shared.embedding.ollama import OllamaWire
from shared.embedding.openai_compatible import OpenAICompatibleWire
from shared.embedding.provider import Endpoint, ModelSpec
from shared.errors import InvalidInput, Unavailable
from tests.fakes.embedding_servers import Answer, Hold, Trickle, embedding_server
from tests.fakes.provider_setting import KEY, LIMITS, ProviderSetting


@pytest.fixture(params=["openai", "ollama"])
async def setting(request: pytest.FixtureRequest) -> AsyncIterator[ProviderSetting]:
    async with embedding_server(request.param) as server:
        yield ProviderSetting(server)


async def test_a_first_byte_that_comes_too_late_is_unavailable(setting: ProviderSetting):
    setting.attempts = 1
    setting.server.will(Hold(asyncio.Event()))
    embedder = setting.embedder(timeout_s=0.05)

    with pytest.raises(Unavailable, match=r"within 0\.05 s"):
        await embedder.embed_documents(["a"])
    await asyncio.wait_for(setting.server.disconnected.wait(), 5)
    await embedder.aclose()


async def test_an_answer_that_trickles_without_end_is_unavailable(setting: ProviderSetting):
    setting.attempts = 1
    setting.server.will(Trickle(interval_s=0.01))
    embedder = setting.embedder(timeout_s=0.2)

    with pytest.raises(Unavailable, match=r"within 0\.2 s"):
        await embedder.embed_documents(["a"])
    await embedder.aclose()


async def test_a_slow_first_byte_within_the_time_is_waited_for(setting: ProviderSetting):
    release = asyncio.Event()
    setting.server.will(Hold(release))
    embedder = setting.embedder()

    call = asyncio.ensure_future(embedder.embed_documents(["a"]))
    await setting.server.arrivals.acquire()
    release.set()

    assert (await call).shape == (1, 64)
    await embedder.aclose()


async def test_a_cancelled_call_closes_its_request(setting: ProviderSetting):
    setting.server.will(Hold(asyncio.Event()))
    embedder = setting.embedder()
    call = asyncio.ensure_future(embedder.embed_documents(["a"]))
    await setting.server.arrivals.acquire()
    call.cancel()

    await asyncio.wait_for(setting.server.disconnected.wait(), 5)
    assert (await embedder.embed_documents(["b"])).shape == (1, 64)
    await embedder.aclose()


async def test_an_error_in_one_batch_ends_the_others_first(setting: ProviderSetting):
    setting.server.will(Hold(asyncio.Event()), Answer(400))
    embedder = setting.embedder()

    with pytest.raises(InvalidInput):
        await embedder.embed_documents(["a", "b", "c"])
    await asyncio.wait_for(setting.server.disconnected.wait(), 5)
    await embedder.aclose()


async def test_no_request_is_larger_than_the_limits(setting: ProviderSetting):
    setting.server.refuse_texts_over_chars = 500
    embedder = setting.embedder(limits=replace(LIMITS, max_texts=3, max_chars=600))
    texts = [f"{i} " + "word " * (i * 7 % 90) for i in range(40)]

    vectors = await embedder.embed_documents(texts)

    assert vectors.shape == (40, 64)
    for seen in setting.server.requests:
        assert len(seen.texts) <= 3
        assert len(seen.texts) == 1 or sum(map(len, seen.texts)) <= 600
    await embedder.aclose()


async def test_a_text_too_long_for_the_server_is_refused_not_cut(setting: ProviderSetting):
    setting.server.refuse_texts_over_chars = 10

    with pytest.raises(InvalidInput, match="exceeds the context length"):
        await setting.embed("more than ten characters")


async def test_no_more_requests_run_at_once_than_allowed(setting: ProviderSetting):
    release = asyncio.Event()
    setting.server.will(*[Hold(release)] * 10)
    embedder = setting.embedder(limits=replace(LIMITS, max_texts=1))
    call = asyncio.ensure_future(embedder.embed_documents([str(i) for i in range(10)]))
    await setting.server.arrivals.acquire()
    await setting.server.arrivals.acquire()
    release.set()
    await call

    assert setting.server.most_in_flight == 2
    await embedder.aclose()


async def test_a_query_does_not_wait_behind_documents(setting: ProviderSetting):
    release = asyncio.Event()
    setting.server.will(*[Hold(release)] * 2)
    embedder = setting.embedder()
    documents = asyncio.ensure_future(embedder.embed_documents([str(i) for i in range(20)]))
    await setting.server.arrivals.acquire()
    await setting.server.arrivals.acquire()

    assert (await asyncio.wait_for(embedder.embed_query("now"), 5)).shape == (64,)
    release.set()
    await documents
    await embedder.aclose()


async def test_the_key_travels_as_bearer_token_and_the_model_by_name(setting: ProviderSetting):
    await setting.embed("a")

    seen = setting.server.requests[0]
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.body["model"] == "m"


async def test_a_server_that_is_not_there_is_unavailable(setting: ProviderSetting):
    setting.server.url = "http://127.0.0.1:9"

    with pytest.raises(Unavailable, match=r"127\.0\.0\.1:9"):
        await setting.embed("a")


async def test_a_client_that_was_given_stays_open(setting: ProviderSetting):
    async with httpx.AsyncClient() as client:
        embedder = setting.embedder(client=client)
        await embedder.embed_query("a")
        await embedder.aclose()

        assert not client.is_closed


async def test_prefixes_go_before_documents_and_queries_and_change_the_space(setting: ProviderSetting):
    async with httpx.AsyncClient() as client:
        spec = ModelSpec("m", 64, document_prefix="passage: ", query_prefix="query: ")
        wire = OpenAICompatibleWire("m", dimensions=64) if setting.server.wire == "openai" else OllamaWire("m", 64)
        embedder = HttpEmbedder(wire, spec, Endpoint(setting.server.url), client=client)
        await embedder.embed_documents(["a", "word " * 10_000])
        await embedder.embed_query("b")

    *documents, query = setting.server.requests
    assert len(documents[0].texts) > 2
    assert all(text.startswith("passage: ") for text in documents[0].texts)
    assert query.texts == ["query: b"]
    assert query.body["dimensions"] == 64
    assert embedder.model != "m"
