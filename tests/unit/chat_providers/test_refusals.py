"""What a provider's error means: statuses, codes of events, waits, and how providers say that a prompt is too long."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from services.chat.providers.refusals import refused, refused_amid, retry_after_s
from services.chat.providers.spec import ProviderSpec
from shared.errors import InvalidInput, RateLimited, TooLarge, Unavailable

SPEC = ProviderSpec("openai", "m", "http://127.0.0.1:8000/v1", SecretStr("sk-very-secret"))
NOW = datetime(2025, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *[(status, InvalidInput) for status in (301, 400, 401, 402, 403, 404, 405, 422)],
        *[(status, Unavailable) for status in (408, 409, 425, 500, 502, 503, 504, 529, 599)],
        (413, TooLarge),
        (429, RateLimited),
    ],
)
def test_a_status_decides_whether_to_try_again(status: int, kind: type[Exception]):
    assert type(refused(SPEC, status, "words")) is kind


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        '{"code": "context_length_exceeded"}',
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 199000 + 2048 > 200000",
        "the request exceeds the available context size (4096 tokens), try increasing it",
        '{"type": "exceed_context_size_error"}',
        "Prompt exceeds max length: too many tokens",
        "Input is too long for requested model.",
    ],
)
def test_providers_say_in_many_ways_that_a_prompt_is_too_long(words: str):
    assert type(refused(SPEC, 400, words)) is TooLarge


@pytest.mark.parametrize(
    "words", ["model `m` does not exist", "invalid value for `messages`", "Extra inputs are not permitted"]
)
def test_other_refusals_are_not_taken_for_it(words: str):
    assert type(refused(SPEC, 400, words)) is InvalidInput


def test_a_rate_limit_on_tokens_is_no_prompt_that_is_too_long():
    assert type(refused(SPEC, 429, "Request too large: too many tokens per minute")) is RateLimited


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("rate_limit_exceeded", RateLimited),
        ("rate_limit_error", RateLimited),
        ("overloaded_error", Unavailable),
        ("api_error", Unavailable),
        ("", Unavailable),
        ("502", Unavailable),
        ("400", InvalidInput),
        ("invalid_request_error", InvalidInput),
        ("authentication_error", InvalidInput),
        ("context_length_exceeded", TooLarge),
    ],
)
def test_an_error_amid_the_stream_is_read_by_its_code(kind: str, error: type[Exception]):
    assert type(refused_amid(SPEC, kind, "words")) is error


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "Sat, 01 Mar 2025 12:00:09 GMT"}, 9.0),
        ({"Retry-After-Ms": "1500", "Retry-After": "2"}, 1.5),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
    ids=str,
)
def test_a_wait_is_read_in_each_of_its_forms(headers: dict[str, str], wait_s: float | None):
    assert retry_after_s(headers, NOW) == wait_s


@pytest.mark.parametrize("status", [301, 400, 401, 402, 403, 404, 413, 429, 500])
def test_no_message_has_the_key_the_path_or_the_providers_words(status: int):
    message = str(refused(SPEC, status, "sk-very-secret is wrong"))

    assert "secret" not in message
    assert "wrong" not in message
    assert "127.0.0.1:8000" in message
    assert "/v1" not in message
