"""What the HTTP embedders do when a provider limits, fails, breaks off or talks nonsense: over real HTTP on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import httpx
import numpy as np
import pytest

from shared.embedding.http_embedder import HttpEmbedder
from shared.embedding.ollama import OllamaWire
from shared.embedding.openai_compatible import OpenAICompatibleWire
from shared.embedding.provider import Conduct, Endpoint, ModelSpec, RequestLimits
from shared.embedding.retrying import RetryPolicy
from shared.embedding.windows import WindowLimits
from shared.errors import InvalidInput, RateLimited, Unavailable
from tests.fakes.embedding_servers import (
    Alter,
    Answer,
    CutOff,
    EmbeddingServer,
    Fault,
    Hold,
    Rows,
    WireName,
    embedding_server,
)

KEY = "sk-very-secret"
NOW = datetime(2025, 3, 1, 12, 0, 0, tzinfo=UTC)
LIMITS = RequestLimits(max_texts=2, concurrency=2, window=WindowLimits(100))


@dataclass
class Setting:
    """A server, and an embedder that notes its waits instead of waiting."""

    server: EmbeddingServer
    waits: list[float] = field(default_factory=list[float])
    attempts: int = 3

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def embedder(
        self, timeout_s: float = 20.0, limits: RequestLimits = LIMITS, client: httpx.AsyncClient | None = None
    ) -> HttpEmbedder:
        wire = OpenAICompatibleWire("m") if self.server.wire == "openai" else OllamaWire("m")
        retry = RetryPolicy(attempts=self.attempts, sleep=self.sleep, fraction=lambda: 0.0)
        conduct = Conduct(limits, retry, now=lambda: NOW)
        return HttpEmbedder(wire, ModelSpec("m", 64), Endpoint(self.server.url, KEY, timeout_s), conduct, client)

    async def embed(self, *texts: str) -> np.ndarray:
        embedder = self.embedder()
        try:
            return await embedder.embed_documents(list(texts))
        finally:
            await embedder.aclose()


@pytest.fixture(params=["openai", "ollama"])
async def setting(request: pytest.FixtureRequest) -> AsyncIterator[Setting]:
    wire: WireName = request.param
    async with embedding_server(wire) as server:
        yield Setting(server)


def drop_last(rows: Rows) -> Rows:
    return rows[:-1]


def add_one(rows: Rows) -> Rows:
    return [*rows, rows[0]]


def shorten(rows: Rows) -> Rows:
    return [rows[0], *(row[:63] for row in rows[1:])]


def not_a_number(rows: Rows) -> Rows:
    return [[float("nan")] * 64, *rows[1:]]


def infinite(rows: Rows) -> Rows:
    return [[float("inf"), *rows[0][1:]], *rows[1:]]


def zeros(rows: Rows) -> Rows:
    return [[0.0] * 64, *rows[1:]]


@pytest.mark.parametrize(
    "fault",
    [
        Answer(429),
        Answer(408),
        Answer(500),
        Answer(503),
        Answer(529),
        Answer(200, b"<html>gateway</html>"),
        Answer(200, b""),
        CutOff(),
        CutOff(after_bytes=10),
    ],
    ids=str,
)
async def test_a_passing_fault_is_tried_again(setting: Setting, fault: Fault):
    expected = await setting.embed("a", "b")
    setting.server.will(fault, fault)

    assert np.array_equal(await setting.embed("a", "b"), expected)
    assert setting.waits == [0.25, 0.5]


@pytest.mark.parametrize(
    ("fault", "error"), [(Answer(429), RateLimited), (Answer(502), Unavailable), (CutOff(), Unavailable)], ids=str
)
async def test_a_lasting_fault_is_raised_after_the_last_attempt(
    setting: Setting, fault: Fault, error: type[Unavailable]
):
    setting.server.will(*[fault] * 3)

    with pytest.raises(error):
        await setting.embed("a")
    assert len(setting.server.requests) == 3


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "Sat, 01 Mar 2025 12:00:09 GMT"}, 9.0),
        ({"Retry-After-Ms": "1500", "Retry-After": "2"}, 1.5),
        ({"Retry-After": "soon"}, 0.25),
    ],
    ids=str,
)
async def test_the_wait_that_a_provider_asks_for_is_kept(setting: Setting, headers: dict[str, str], wait_s: float):
    setting.server.will(Answer(429, headers=headers))

    await setting.embed("a")

    assert setting.waits == [wait_s]


async def test_a_wait_that_is_too_long_is_left_to_the_caller(setting: Setting):
    setting.server.will(Answer(503, headers={"Retry-After": "3600"}))

    with pytest.raises(Unavailable) as raised:
        await setting.embed("a")
    assert raised.value.retry_after_s == 3600
    assert setting.waits == []


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 413, 422])
async def test_a_refusal_is_final_and_never_shows_the_key(setting: Setting, status: int):
    setting.server.will(Answer(status, f'{{"error": "bad key {KEY}"}}'.encode()))

    with pytest.raises(InvalidInput) as raised:
        await setting.embed("a")
    assert str(status) in str(raised.value)
    assert "CITEBUS_EMBEDDING_" in str(raised.value)
    assert KEY not in str(raised.value)
    assert len(setting.server.requests) == 1


async def test_the_providers_own_words_are_in_the_message(setting: Setting):
    setting.server.will(Answer(400, b'{"error": "the input length\\n exceeds the context length"}' + b" " * 9_999))

    with pytest.raises(InvalidInput, match="exceeds the context length"):
        await setting.embed("a")


@pytest.mark.parametrize("change", [drop_last, add_one, shorten, not_a_number, infinite, zeros])
async def test_vectors_that_do_not_fit_are_refused(setting: Setting, change: object):
    setting.server.will(Alter(change))  # pyright: ignore[reportArgumentType] - one of the functions above

    with pytest.raises(InvalidInput):
        await setting.embed("a", "b")
    assert len(setting.server.requests) == 1


async def test_another_dimension_is_said_with_the_setting_that_fits(setting: Setting):
    setting.server.will(Alter(lambda rows: [row * 2 for row in rows]))

    with pytest.raises(InvalidInput, match="CITEBUS_EMBEDDING_DIMENSION=128"):
        await setting.embed("a")


async def test_json_of_another_format_is_refused(setting: Setting):
    setting.server.will(Answer(200, b'{"object": "list", "error": null}'))

    with pytest.raises(InvalidInput, match="CITEBUS_EMBEDDING_BASE_URL"):
        await setting.embed("a")


async def test_indexes_that_repeat_are_refused():
    reply = b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}'

    with pytest.raises(InvalidInput, match="index"):
        OpenAICompatibleWire("m").rows(reply)


@pytest.mark.parametrize("text", ["AAAA", "not base64!"])
async def test_base64_that_is_no_float32_is_refused(text: str):
    reply = f'{{"data": [{{"index": 0, "embedding": "{text}"}}]}}'.encode()

    with pytest.raises(InvalidInput, match="base64"):
        OpenAICompatibleWire("m").rows(reply)


async def test_a_first_byte_that_comes_too_late_is_unavailable(setting: Setting):
    setting.attempts = 1
    setting.server.will(Hold(asyncio.Event()))
    embedder = setting.embedder(timeout_s=0.05)

    with pytest.raises(Unavailable, match=r"within 0\.05 s"):
        await embedder.embed_documents(["a"])
    await asyncio.wait_for(setting.server.disconnected.wait(), 5)
    await embedder.aclose()


async def test_a_slow_first_byte_within_the_time_is_waited_for(setting: Setting):
    release = asyncio.Event()
    setting.server.will(Hold(release))
    embedder = setting.embedder()

    call = asyncio.ensure_future(embedder.embed_documents(["a"]))
    await setting.server.arrived.wait()
    release.set()

    assert (await call).shape == (1, 64)
    await embedder.aclose()


async def test_a_cancelled_call_closes_its_request(setting: Setting):
    setting.server.will(Hold(asyncio.Event()))
    embedder = setting.embedder()
    call = asyncio.ensure_future(embedder.embed_documents(["a"]))
    await setting.server.arrived.wait()
    call.cancel()

    await asyncio.wait_for(setting.server.disconnected.wait(), 5)
    assert (await embedder.embed_documents(["b"])).shape == (1, 64)
    await embedder.aclose()


async def test_an_error_in_one_batch_ends_the_others_first(setting: Setting):
    setting.server.will(Hold(asyncio.Event()), Answer(400))
    embedder = setting.embedder()

    with pytest.raises(InvalidInput):
        await embedder.embed_documents(["a", "b", "c"])
    await asyncio.wait_for(setting.server.disconnected.wait(), 5)
    await embedder.aclose()


async def test_no_request_is_larger_than_the_limits(setting: Setting):
    setting.server.refuse_texts_over_chars = 500
    embedder = setting.embedder(limits=replace(LIMITS, max_texts=3, max_chars=600))
    texts = [f"{i} " + "word " * (i * 7 % 90) for i in range(40)]

    vectors = await embedder.embed_documents(texts)

    assert vectors.shape == (40, 64)
    for seen in setting.server.requests:
        assert len(seen.texts) <= 3
        assert len(seen.texts) == 1 or sum(map(len, seen.texts)) <= 600
    await embedder.aclose()


async def test_no_more_requests_run_at_once_than_allowed(setting: Setting):
    release = asyncio.Event()
    setting.server.will(*[Hold(release)] * 10)
    embedder = setting.embedder(limits=replace(LIMITS, max_texts=1))
    call = asyncio.ensure_future(embedder.embed_documents([str(i) for i in range(10)]))
    while setting.server.in_flight < 2:
        await asyncio.sleep(0)
    release.set()
    await call

    assert setting.server.most_in_flight == 2
    await embedder.aclose()


async def test_a_query_does_not_wait_behind_documents(setting: Setting):
    release = asyncio.Event()
    setting.server.will(*[Hold(release)] * 2)
    embedder = setting.embedder()
    documents = asyncio.ensure_future(embedder.embed_documents([str(i) for i in range(20)]))
    while setting.server.in_flight < 2:
        await asyncio.sleep(0)

    assert (await asyncio.wait_for(embedder.embed_query("now"), 5)).shape == (64,)
    release.set()
    await documents
    await embedder.aclose()


async def test_the_key_travels_as_bearer_token_and_the_model_by_name(setting: Setting):
    await setting.embed("a")

    seen = setting.server.requests[0]
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.body["model"] == "m"


async def test_a_server_that_is_not_there_is_unavailable(setting: Setting):
    setting.server.url = "http://127.0.0.1:9"

    with pytest.raises(Unavailable, match=r"127\.0\.0\.1:9"):
        await setting.embed("a")


async def test_a_client_that_was_given_stays_open(setting: Setting):
    async with httpx.AsyncClient() as client:
        embedder = setting.embedder(client=client)
        await embedder.embed_query("a")
        await embedder.aclose()

        assert not client.is_closed


async def test_prefixes_go_before_documents_and_queries_and_change_the_space(setting: Setting):
    async with httpx.AsyncClient() as client:
        spec = ModelSpec("m", 64, document_prefix="passage: ", query_prefix="query: ")
        wire = OpenAICompatibleWire("m", dimensions=64) if setting.server.wire == "openai" else OllamaWire("m", 64)
        embedder = HttpEmbedder(wire, spec, Endpoint(setting.server.url), client=client)
        await embedder.embed_documents(["a"])
        await embedder.embed_query("b")

    assert [seen.texts for seen in setting.server.requests] == [["passage: a"], ["query: b"]]
    assert [seen.body["dimensions"] for seen in setting.server.requests] == [64, 64]
    assert embedder.model != "m"
