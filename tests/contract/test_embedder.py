"""What every embedder keeps, whatever stands behind it: one suite over all of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import cache

import numpy as np
import pytest

from shared.embedding.bundled import BundledEmbedder
from shared.embedding.embedder import Embedder, Space
from shared.embedding.hashing import HashingEmbedder
from shared.embedding.http_embedder import HttpEmbedder
from shared.embedding.ollama import OllamaWire
from shared.embedding.openai_compatible import OpenAICompatibleWire
from shared.embedding.provider import Conduct, Endpoint, ModelSpec, RequestLimits
from shared.embedding.sentence_encoder import load_sentence_encoder
from shared.embedding.windows import WindowLimits
from shared.embedding.wire import WireFormat
from tests.fakes.embedding_servers import WireName, embedding_server

CONDUCT = Conduct(RequestLimits(max_texts=3, max_chars=4_000, concurrency=2, window=WindowLimits(200)))
WIRES: dict[str, tuple[WireName, WireFormat]] = {
    "openai": ("openai", OpenAICompatibleWire("m")),
    "openai-base64": ("openai", OpenAICompatibleWire("m", encoding="base64")),
    "ollama": ("ollama", OllamaWire("m")),
}
TEXTS = [
    "A stream keeps its messages until a limit is reached.",
    "Die Hauptversammlung beschließt über die Verwendung des Bilanzgewinns.",
    "消息保存在流中，直到达到限制为止。",
    "🦊 emoji 👩‍👩‍👧 and \u202eright-to-left\u202c marks",
    "control \x00 \x07 \x1b characters\r\n\tand a lone \ud800 surrogate",
    "",
    "   \n",
    "x",
    "z" * 3_000,
]
load_once = cache(load_sentence_encoder)


@pytest.fixture(params=["hashing", "bundled", *WIRES])
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    async with AsyncExitStack() as stack:
        made: Embedder
        if request.param == "hashing":
            made = HashingEmbedder()
        elif request.param == "bundled":
            made = BundledEmbedder(threads=2, load=load_once)
        else:
            server_wire, wire = WIRES[request.param]
            server = await stack.enter_async_context(embedding_server(server_wire))
            server.refuse_texts_over_chars = 1_000
            made = HttpEmbedder(wire, ModelSpec("m", 64), Endpoint(server.url), CONDUCT)
        stack.push_async_callback(made.aclose)
        yield made


async def test_documents_become_unit_rows_of_float32(embedder: Embedder):
    vectors = await embedder.embed_documents(TEXTS)

    assert vectors.shape == (len(TEXTS), embedder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def test_a_query_becomes_one_unit_vector_of_float32(embedder: Embedder):
    for text in TEXTS:
        vector = await embedder.embed_query(text)

        assert vector.shape == (embedder.dimension,)
        assert vector.dtype == np.float32
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


async def test_no_documents_give_an_empty_matrix(embedder: Embedder):
    vectors = await embedder.embed_documents([])

    assert vectors.shape == (0, embedder.dimension)
    assert vectors.dtype == np.float32


async def test_a_vector_does_not_depend_on_batch_mates(embedder: Embedder):
    together = await embedder.embed_documents(TEXTS)

    for text, vector in zip(TEXTS, together, strict=True):
        alone = await embedder.embed_documents([text])
        assert np.array_equal(alone[0], vector)


async def test_vectors_come_in_the_order_of_the_texts(embedder: Embedder):
    forward = await embedder.embed_documents(TEXTS)
    backward = await embedder.embed_documents(TEXTS[::-1])

    assert np.array_equal(forward, backward[::-1])


async def test_different_texts_have_different_vectors(embedder: Embedder):
    vectors = await embedder.embed_documents(TEXTS[:5])

    similarity = vectors @ vectors.T - np.eye(5)
    assert similarity.max() < 0.99


async def test_repeated_texts_in_one_call_have_the_same_vector(embedder: Embedder):
    vectors = await embedder.embed_documents([TEXTS[0], TEXTS[1], TEXTS[0]])

    assert np.array_equal(vectors[0], vectors[2])


async def test_calls_may_overlap(embedder: Embedder):
    expected = [await embedder.embed_query(text) for text in TEXTS]

    found, *matrices = await asyncio.gather(
        asyncio.gather(*(embedder.embed_query(text) for text in TEXTS)),
        *(embedder.embed_documents([text]) for text in TEXTS),
    )

    assert np.array_equal(np.stack(found), np.stack(expected))
    assert [matrix.shape for matrix in matrices] == [(1, embedder.dimension)] * len(TEXTS)


async def test_every_part_of_a_long_text_counts(embedder: Embedder):
    words = ["the", "server", "keeps", "each", "message", "until", "it", "is", "acknowledged", "twice"] * 500
    changed = [[*words[:at], *["zebra quagga okapi"] * 10, *words[at + 10 :]] for at in (0, 2_500, 4_990)]

    before, *after = await embedder.embed_documents([" ".join(text) for text in [words, *changed]])

    for vector in after:
        assert not np.array_equal(before, vector)
        assert before @ vector > 0.8


async def test_a_document_is_nearest_to_the_query_about_it(embedder: Embedder):
    documents = await embedder.embed_documents(
        [
            "To limit the messages per subject, set max_msgs_per_subject on the stream.",
            "Bake the bread at 220 degrees until the crust is brown.",
            "The annual general meeting elects the supervisory board.",
        ]
    )

    query = await embedder.embed_query("how do I limit the messages per subject of a stream")

    assert (documents @ query).argmax() == 0


async def test_a_cancelled_call_leaves_the_embedder_usable(embedder: Embedder):
    expected = await embedder.embed_documents(TEXTS[:2])
    call = asyncio.ensure_future(embedder.embed_documents(TEXTS * 5))
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait({call})

    assert np.array_equal(await embedder.embed_documents(TEXTS[:2]), expected)


async def test_the_space_of_an_embedder_is_named_by_it(embedder: Embedder):
    space = Space(embedder.model, embedder.dimension, chunker_version=1)

    assert space.name.endswith(f"-{embedder.dimension}-c1")


async def test_closing_twice_is_allowed(embedder: Embedder):
    await embedder.embed_query("a")
    await embedder.aclose()
    await embedder.aclose()
