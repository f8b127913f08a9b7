"""What every scorer keeps, whatever stands behind it; and what those behind HTTP do when the provider fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import pytest

from shared.errors import CitebusError, InvalidInput, RateLimited, TooLarge, Unavailable
from shared.http_provider import HttpAddress
from shared.scoring.bundled import BundledScorer
from shared.scoring.cross_encoder import load_cross_encoder
from shared.scoring.http_scorer import HttpScorer, Wire
from shared.scoring.scorer import MAX_TEXTS, PassageScorer
from tests.fakes.json_server import Answer, Break, JsonServer, Silence, json_server
from tests.fakes.refiners import WordScorer

KEY = "sk-very-secret"
QUERY = "how deep may divers go"
TEXTS = [
    "The bank was closed on Monday.",
    "Divers may go forty metres deep.",
    "",
    "   \n",
    "消息保存在流中",
    "\x00 control and a lone \ud800 surrogate",
    "word " * 5_000,
]
load_once = cache(load_cross_encoder)


def by_words(query: str, texts: list[str]) -> list[dict[str, Any]]:
    """Score like the fake, and give the best first, as providers do."""
    asked = set(query.lower().split())
    scored = [
        {"index": index, "relevance_score": len(asked & set(text.lower().rstrip(".").split())) / len(asked)}
        for index, text in enumerate(texts)
    ]
    return sorted(scored, key=lambda each: -each["relevance_score"])


def cohere(body: dict[str, Any]) -> object:
    assert body["top_n"] == len(body["documents"])
    return {"id": "x", "results": by_words(body["query"], body["documents"])}


def tei(body: dict[str, Any]) -> object:
    scored = by_words(body["query"], body["texts"])
    return [{"index": each["index"], "score": each["relevance_score"]} for each in scored]


@asynccontextmanager
async def http_scorer(wire: Wire, timeout_s: float = 20.0) -> AsyncGenerator[tuple[HttpScorer, JsonServer]]:
    async with json_server(cohere if wire == "cohere" else tei) as server:
        address = HttpAddress("scoring provider", server.url + "/v1/", "CITEBUS_SCORING_", KEY, timeout_s)
        scorer = HttpScorer(wire, "m", address)
        yield scorer, server
        await scorer.aclose()


@pytest.fixture(params=["words", "bundled", "cohere", "tei"])
async def scorer(request: pytest.FixtureRequest) -> AsyncGenerator[PassageScorer]:
    if request.param == "words":
        yield WordScorer()
    elif request.param == "bundled":
        bundled = BundledScorer(load=lambda _: load_once())
        yield bundled
        await bundled.aclose()
    else:
        async with http_scorer(request.param) as (made, _):
            yield made


async def test_each_text_has_a_finite_score_in_the_order_of_the_texts(scorer: PassageScorer) -> None:
    forward = await scorer.scores(QUERY, TEXTS)
    backward = await scorer.scores(QUERY, TEXTS[::-1])

    assert len(forward) == len(TEXTS)
    assert all(0 <= score <= 1 for score in forward)
    assert forward == backward[::-1]
    assert max(forward) == forward[1]


async def test_no_texts_have_no_scores(scorer: PassageScorer) -> None:
    assert await scorer.scores(QUERY, []) == []


async def test_more_texts_than_allowed_are_refused(scorer: PassageScorer) -> None:
    with pytest.raises(TooLarge):
        await scorer.scores(QUERY, ["x"] * (MAX_TEXTS + 1))


async def test_calls_may_overlap(scorer: PassageScorer) -> None:
    alone = [await scorer.scores(query, TEXTS[:2]) for query in (QUERY, "bank")]

    assert list(await asyncio.gather(*(scorer.scores(query, TEXTS[:2]) for query in (QUERY, "bank")))) == alone


async def test_a_cancelled_call_leaves_the_scorer_usable(scorer: PassageScorer) -> None:
    call = asyncio.ensure_future(scorer.scores(QUERY, TEXTS))
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait({call})

    assert len(await scorer.scores(QUERY, TEXTS[:2])) == 2


async def test_a_scorer_has_a_name_for_people(scorer: PassageScorer) -> None:
    assert scorer.name


@pytest.fixture(params=["cohere", "tei"])
def wire(request: pytest.FixtureRequest) -> Wire:
    return request.param


async def test_the_key_goes_into_the_header_and_the_path_behind_the_base(wire: Wire) -> None:
    async with http_scorer(wire) as (scorer, server):
        await scorer.scores(QUERY, ["a"])

        ((path, headers, _),) = server.requests
        assert (path, headers["authorization"]) == ("/v1/rerank", f"Bearer {KEY}")


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (Answer(429, headers={"Retry-After": "7"}), RateLimited, "answers 429: try again later"),
        (Answer(503), Unavailable, "answers 503"),
        pytest.param(Break(), Unavailable, "cannot be reached or broke off", id="a cut connection"),
        (Answer(200, b"<html>"), Unavailable, "no JSON"),
        (Answer(401, b'{"error": "bad key sk-very-secret"}'), InvalidInput, "check CITEBUS_SCORING_API_KEY"),
        (Answer(404), InvalidInput, r"refuses with 404: check CITEBUS_SCORING_\*"),
        (Answer(200, b'{"data": []}'), InvalidInput, "check CITEBUS_SCORING_PROVIDER"),
    ],
    ids=str,
)
async def test_what_the_provider_does_wrong_is_said_without_the_key(
    wire: Wire, answer: Answer, error: type[CitebusError], said: str
) -> None:
    async with http_scorer(wire) as (scorer, server):
        server.script.append(answer)
        with pytest.raises(error, match=said) as raised:
            await scorer.scores(QUERY, ["a", "b"])

        assert KEY not in str(raised.value)
        assert len(server.requests) == 1, "somebody is waiting: no second try"
        if isinstance(raised.value, RateLimited):
            assert raised.value.retry_after_s == 7


@pytest.mark.parametrize("rows", [[], [0], [0, 0], [0, 2], [0, 1, 2]])
async def test_scores_that_are_not_one_for_each_text_are_refused(wire: Wire, rows: list[int]) -> None:
    async with http_scorer(wire) as (scorer, server):
        scored = [{"index": row, "relevance_score": 0.5, "score": 0.5} for row in rows]
        server.answer = lambda _: {"results": scored} if wire == "cohere" else scored

        with pytest.raises(InvalidInput, match="did not score each of 2 texts once"):
            await scorer.scores(QUERY, ["a", "b"])


async def test_a_provider_that_does_not_answer_is_given_up_in_time(wire: Wire) -> None:
    async with http_scorer(wire, timeout_s=0.1) as (scorer, server):
        server.script.append(Silence())
        with pytest.raises(Unavailable, match=r"did not answer within 0\.1 s"):
            await scorer.scores(QUERY, ["a"])


async def test_a_cancelled_call_closes_its_request(wire: Wire) -> None:
    async with http_scorer(wire) as (scorer, server), asyncio.timeout(20):
        server.script.append(Silence())
        call = asyncio.ensure_future(scorer.scores(QUERY, ["a"]))
        while not server.requests:  # noqa: ASYNC110  (the request's way over loopback)
            await asyncio.sleep(0.01)
        call.cancel()
        await server.left.wait()
        await asyncio.wait({call})
