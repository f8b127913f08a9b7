"""What rewriters keep: wordings that are few, not blank, not repeated and not the question itself."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from services.retrieval.adapters.openai_query_rewriter import OpenAIQueryRewriter, wordings
from services.retrieval.refining import QueryRewriter
from shared.errors import CitebusError, InvalidInput, RateLimited
from shared.http_provider import HttpAddress
from tests.fakes.json_server import Answer, JsonServer, json_server
from tests.fakes.refiners import ListedRewriter

SAID = "1. Which colour have roses?\n\n- colour of a rose\n* Colour of a rose\n“rosa hue”\nHow red are roses?\n"
WORDINGS = ("Which colour have roses?", "colour of a rose", "rosa hue")


def completion(_: dict[str, Any]) -> object:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": SAID}}], "usage": {}}


@asynccontextmanager
async def provider() -> AsyncGenerator[tuple[OpenAIQueryRewriter, JsonServer]]:
    async with json_server(completion) as server:
        address = HttpAddress("rewording provider", server.url + "/v1", "CITEBUS_RETRIEVAL_REWRITER_", "sk-secret")
        rewriter = OpenAIQueryRewriter("m", address)
        yield rewriter, server
        await rewriter.aclose()


@pytest.fixture(params=["listed", "openai"])
async def rewriter(request: pytest.FixtureRequest) -> AsyncGenerator[QueryRewriter]:
    if request.param == "listed":
        yield ListedRewriter({"how red are roses?": WORDINGS})
    else:
        async with provider() as (made, _):
            yield made


@pytest.mark.parametrize("count", [1, 2, 3, 8])
async def test_there_are_at_most_as_many_wordings_as_asked_for(rewriter: QueryRewriter, count: int) -> None:
    assert await rewriter.rewrites("how red are roses?", count) == WORDINGS[:count]


async def test_the_question_is_sent_as_data_beside_the_instruction() -> None:
    async with provider() as (rewriter, server):
        await rewriter.rewrites("rosé \ud800?", 2)

        ((path, headers, body),) = server.requests
        assert (path, headers["authorization"], body["model"]) == ("/v1/chat/completions", "Bearer sk-secret", "m")
        assert [message["role"] for message in body["messages"]] == ["system", "user"]
        assert body["messages"][1]["content"] == "rosé ??"


@pytest.mark.parametrize("reply", [b'{"choices": []}', b'{"choices": [{"message": {"content": null}}]}'])
async def test_a_model_that_says_nothing_gives_no_wording(reply: bytes) -> None:
    async with provider() as (rewriter, server):
        server.script.append(Answer(200, reply))

        assert await rewriter.rewrites("roses", 2) == ()


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (Answer(429), RateLimited, "the rewording provider at .* answers 429"),
        (Answer(401), InvalidInput, "check CITEBUS_RETRIEVAL_REWRITER_API_KEY"),
    ],
)
async def test_a_provider_that_refuses_is_named_with_what_to_do(
    answer: Answer, error: type[CitebusError], said: str
) -> None:
    async with provider() as (rewriter, server):
        server.script.append(answer)
        with pytest.raises(error, match=said):
            await rewriter.rewrites("roses", 2)


def test_a_line_that_is_too_long_for_a_question_is_left_out() -> None:
    assert wordings("a" * 500 + "\nred?", "roses") == ("red?",)
