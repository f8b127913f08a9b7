"""What every chat adapter does when a provider limits, refuses, fails, breaks off or talks nonsense."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from shared.errors import DeadlineExceeded, InvalidInput, RateLimited, TooLarge, Unavailable
from tests.contract.chat_providers import ADAPTERS, KEY, ChatSetting, chat_setting, finish_of, text_of
from tests.fakes.provider_servers.answers import Answer, Page, Silence

WORDS = f"nope: {KEY} is no key"


@pytest.fixture(params=ADAPTERS)
async def setting(request: pytest.FixtureRequest) -> AsyncIterator[ChatSetting]:
    async with chat_setting(request.param) as opened:
        yield opened


def refusal(setting: ChatSetting, status: int, words: str = WORDS, **headers: str) -> Page:
    return Page(status, setting.server.format.refusal("x", words), {k.replace("_", "-"): v for k, v in headers.items()})


@pytest.mark.parametrize("status", [408, 500, 503, 529])
async def test_a_passing_fault_is_unavailable_and_left_to_the_caller(setting: ChatSetting, status: int):
    setting.server.will(refusal(setting, status))

    text, error = await setting.ask_until_error()

    assert (text, type(error)) == ("", Unavailable)
    assert len(setting.server.requests) == 1, "the caller decides whether to ask again"
    assert KEY not in shown(error)


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_a_refusal_is_invalid_input_and_shows_neither_key_nor_the_providers_words(
    setting: ChatSetting, status: int, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    setting.server.will(*[refusal(setting, status)] * 4)

    text, error = await setting.ask_until_error()

    assert (text, type(error)) == ("", InvalidInput)
    assert str(status) in str(error)
    assert KEY not in shown(error)
    assert "nope" not in shown(error)
    assert KEY not in caplog.text


async def test_a_wait_in_seconds_is_passed_on(setting: ChatSetting):
    setting.server.will(refusal(setting, 429, Retry_After="7"))

    _, error = await setting.ask_until_error()

    assert isinstance(error, RateLimited)
    assert error.retry_after_s == (7.0 if setting.adapter.tells_the_wait else None)


async def test_a_wait_until_a_date_is_passed_on(setting: ChatSetting):
    if not setting.adapter.tells_the_wait:
        pytest.skip("the agent's child does not tell the wait")
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    setting.server.will(refusal(setting, 429, Retry_After=date))

    _, error = await setting.ask_until_error()

    assert isinstance(error, RateLimited)
    assert error.retry_after_s is not None
    assert 80 < error.retry_after_s <= 90


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "the request exceeds the available context size, try increasing it",
    ],
)
async def test_a_prompt_beyond_the_models_window_is_too_large(setting: ChatSetting, words: str):
    setting.server.will(*[refusal(setting, 400, words)] * 4)

    _, error = await setting.ask_until_error()

    assert isinstance(error, TooLarge)


async def test_a_connection_that_is_cut_amid_the_answer_is_unavailable(setting: ChatSetting):
    setting.server.will(*[Answer(pieces=("begun ", "and "), then="cut")] * 3)

    text, error = await setting.ask_until_error()

    assert text == "begun and " or (setting.adapter.drops_words_before_a_cut and "begun and ".startswith(text))
    assert type(error) is Unavailable


async def test_an_answer_without_an_end_is_unavailable(setting: ChatSetting):
    format_ = setting.server.format
    body = b"".join(format_.pieces(Answer(pieces=("begun",))))
    setting.server.will(*[Page(200, body, {"Content-Type": format_.content_type})] * 3)

    text, error = await setting.ask_until_error()

    assert text == "begun"
    assert type(error) is Unavailable


async def test_an_error_as_an_event_is_unavailable_and_not_shown(setting: ChatSetting):
    setting.server.will(*[Answer(pieces=("begun",), error=("api_error", WORDS))] * 3)

    text, error = await setting.ask_until_error()

    assert text == "begun"
    assert type(error) is Unavailable
    assert KEY not in shown(error)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>gateway</html>",
        b"[1, 2]\n\n",
        b"data: {]\n\n",
        b"data: 7\n\n",
        b'event: message_start\ndata: {"type": 7}\n\n',
        b'{"message": 7}\n',
        b"\xff\xfe\x00\n\n",
        b'data: {"choices": "none"}\n\n',
    ],
    ids=str,
)
async def test_nonsense_is_unavailable(setting: ChatSetting, body: bytes):
    setting.server.will(*[Page(200, body, {"Content-Type": setting.server.format.content_type})] * 3)

    text, error = await setting.ask_until_error()

    assert (text, type(error)) == ("", Unavailable)


async def test_ten_megabytes_of_nonsense_are_unavailable(setting: ChatSetting):
    setting.server.will(*[Page(200, b"x" * 10_000_000, {"Content-Type": "text/html"})] * 3)

    _, error = await setting.ask_until_error()

    assert type(error) is Unavailable


async def test_a_line_without_an_end_is_cut_and_not_collected(setting: ChatSetting, monkeypatch: pytest.MonkeyPatch):
    if setting.adapter.provider == "agent":
        pytest.skip("the agent's child collects it, within its own bounds")
    monkeypatch.setattr("services.chat.providers.byte_bound.MAX_ANSWER_BYTES", 1_000_000)
    setting.server.will(Answer(pieces=("x" * 2_000_000,), chunk_bytes=60_000, then="hold"))

    async with asyncio.timeout(5):
        text, error = await setting.ask_until_error()
        await setting.server.disconnected.wait()

    assert (text, type(error)) == ("", Unavailable)


async def test_a_provider_that_never_answers_is_unavailable_and_let_go(setting: ChatSetting):
    setting.server.will(Silence())

    _, error = await setting.ask_until_error(setting.provider(first_byte_timeout_s=0.2))

    assert type(error) is Unavailable
    async with asyncio.timeout(1):
        await setting.server.disconnected.wait()


async def test_a_provider_that_falls_silent_is_unavailable(setting: ChatSetting):
    setting.server.will(Answer(pieces=("begun",), then="hold"))

    text, error = await setting.ask_until_error(setting.provider(idle_timeout_s=0.2))

    assert text == "begun"
    assert type(error) is Unavailable


async def test_an_answer_that_takes_too_long_exceeds_its_deadline(setting: ChatSetting):
    setting.server.will(Answer(pieces=("begun",), then="hold"))

    text, error = await setting.ask_until_error(setting.provider(timeout_s=0.4))

    assert text == "begun"
    assert type(error) is DeadlineExceeded


async def test_a_server_that_is_not_there_is_unavailable(setting: ChatSetting):
    setting.server.origin = "http://127.0.0.1:1"

    _, error = await setting.ask_until_error()

    assert type(error) is Unavailable


async def test_a_redirect_is_not_followed(setting: ChatSetting):
    if setting.adapter.provider == "agent":
        pytest.skip("the agent's child decides")
    async with chat_setting(setting.adapter.provider) as other:
        setting.server.will(Page(307, b"", {"Location": other.server.origin + other.server.format.path}))

        _, error = await setting.ask_until_error()

        assert type(error) is InvalidInput
        assert other.server.requests == []


async def test_the_adapter_works_on_after_a_fault(setting: ChatSetting):
    provider = setting.provider()
    setting.server.will(refusal(setting, 503))
    await setting.ask_until_error(provider)

    assert finish_of(await setting.ask(provider)).reason == "stop"
    assert text_of(await setting.ask(provider)) == Answer().text


def shown(error: BaseException) -> str:
    """What a log of the error would hold."""
    return "".join(traceback.format_exception(error)) + repr(error)
