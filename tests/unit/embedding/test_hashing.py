from __future__ import annotations

import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shared.embedding.hashing import HashingEmbedder

PRINT_VECTOR = """
import asyncio
from shared.embedding.hashing import HashingEmbedder
print(asyncio.run(HashingEmbedder(16).embed_query("the same words, Übergröße 消息")).tobytes().hex())
"""


async def test_the_vector_is_the_same_in_every_process():
    here = (await HashingEmbedder(16).embed_query("the same words, Übergröße 消息")).tobytes().hex()

    for seed in ("1", "2"):
        run = subprocess.run(  # noqa: ASYNC221 - nothing else runs in this loop
            [sys.executable, "-c", PRINT_VECTOR],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == here


@given(text=st.text(), dimension=st.integers(1, 64))
async def test_every_text_has_a_unit_vector(text: str, dimension: int):
    vector = await HashingEmbedder(dimension).embed_query(text)

    assert vector.shape == (dimension,)
    assert np.isclose(np.linalg.norm(vector), 1, atol=1e-5)


async def test_a_text_without_words_is_the_first_axis():
    vectors = await HashingEmbedder(4).embed_documents(["", " \n", "...!?", "\x00\x01"])

    assert vectors.tolist() == [[1, 0, 0, 0]] * 4


async def test_case_and_punctuation_do_not_count_but_order_does():
    plain, shouted, turned = await HashingEmbedder().embed_documents(
        ["ack the message", "ACK, the Message!", "the message ack"]
    )

    assert np.array_equal(plain, shouted)
    assert 0.4 < plain @ turned < 0.99


async def test_two_words_turned_round_have_another_vector():
    there, back = await HashingEmbedder().embed_documents(["ack nak", "nak ack"])

    assert not np.array_equal(there, back)


async def test_texts_that_share_no_word_are_nearly_orthogonal():
    vectors = await HashingEmbedder(1_024).embed_documents([f"a{i} b{i} c{i} d{i}" for i in range(100)])

    assert abs(vectors @ vectors.T - np.eye(100)).mean() < 0.05


async def test_words_of_unspaced_scripts_are_found_inside_a_text():
    embedder = HashingEmbedder()
    right, wrong = await embedder.embed_documents(
        ["消息保存在流中直到达到限制为止", "面包烤到表皮变成棕色为止即可取出"]
    )

    query = await embedder.embed_query("保存在流中")
    assert query @ right > query @ wrong + 0.3


async def test_it_counts_calls_and_texts():
    embedder = HashingEmbedder()
    await embedder.embed_documents(["a", "b"])
    await embedder.embed_documents([])
    await embedder.embed_query("c")

    assert (embedder.calls, embedder.document_texts, embedder.query_texts) == (3, 2, 1)
