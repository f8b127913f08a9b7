"""What the HTTP embedders do when a provider limits, fails, breaks off or talks nonsense: real HTTP on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import numpy as np
import pytest

from shared.embedding.openai_compatible import OpenAICompatibleWire
from shared.errors import InvalidInput, RateLimited, Unavailable
from tests.fakes.embedding_servers import Alter, Answer, CutOff, Fault, Rows, embedding_server
from tests.fakes.provider_setting import KEY, ProviderSetting


@pytest.fixture(params=["openai", "ollama"])
async def setting(request: pytest.FixtureRequest) -> AsyncIterator[ProviderSetting]:
    async with embedding_server(request.param) as server:
        yield ProviderSetting(server)


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
        CutOff(after_bytes=200),
    ],
    ids=str,
)
async def test_a_passing_fault_is_tried_again(setting: ProviderSetting, fault: Fault):
    expected = await setting.embed("a", "b")
    setting.server.will(fault, fault)

    assert np.array_equal(await setting.embed("a", "b"), expected)
    assert setting.waits == [0.25, 0.5]


@pytest.mark.parametrize(
    ("fault", "error"), [(Answer(429), RateLimited), (Answer(502), Unavailable), (CutOff(), Unavailable)], ids=str
)
async def test_a_lasting_fault_is_raised_after_the_last_attempt(
    setting: ProviderSetting, fault: Fault, error: type[Unavailable]
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
async def test_the_wait_that_a_provider_asks_for_is_kept(
    setting: ProviderSetting, headers: dict[str, str], wait_s: float
):
    setting.server.will(Answer(429, headers=headers))

    await setting.embed("a")

    assert setting.waits == [wait_s]


async def test_a_wait_that_is_too_long_is_left_to_the_caller(setting: ProviderSetting):
    setting.server.will(Answer(503, headers={"Retry-After": "3600"}))

    with pytest.raises(Unavailable) as raised:
        await setting.embed("a")
    assert raised.value.retry_after_s == 3600
    assert setting.waits == []


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 413, 422])
async def test_a_refusal_is_final_and_never_shows_the_key(setting: ProviderSetting, status: int):
    setting.server.will(Answer(status, f'{{"error": "bad key {KEY}"}}'.encode()))

    with pytest.raises(InvalidInput) as raised:
        await setting.embed("a")
    assert str(status) in str(raised.value)
    assert "CITEBUS_EMBEDDING_" in str(raised.value)
    assert KEY not in str(raised.value)
    assert len(setting.server.requests) == 1


@pytest.mark.parametrize("status", [401, 403])
async def test_words_about_a_refused_key_are_not_repeated(setting: ProviderSetting, status: int):
    setting.server.will(Answer(status, b'{"error": "Incorrect API key provided: sk-ve*****ret"}'))

    with pytest.raises(InvalidInput) as raised:
        await setting.embed("a")
    assert "sk-" not in str(raised.value)


async def test_the_providers_own_words_are_in_the_message(setting: ProviderSetting):
    setting.server.will(Answer(400, b'{"error": "the input length\\n exceeds the context length"}' + b" " * 9_999))

    with pytest.raises(InvalidInput, match="exceeds the context length"):
        await setting.embed("a")


@pytest.mark.parametrize("change", [drop_last, add_one, shorten, not_a_number, infinite, zeros])
async def test_vectors_that_do_not_fit_are_refused(setting: ProviderSetting, change: Callable[[Rows], Rows]):
    setting.server.will(Alter(change))

    with pytest.raises(InvalidInput):
        await setting.embed("a", "b")
    assert len(setting.server.requests) == 1


async def test_another_dimension_is_said_with_the_setting_that_fits(setting: ProviderSetting):
    setting.server.will(Alter(lambda rows: [row * 2 for row in rows]))

    with pytest.raises(InvalidInput, match="CITEBUS_EMBEDDING_DIMENSION=128"):
        await setting.embed("a")


async def test_json_of_another_format_is_refused(setting: ProviderSetting):
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
