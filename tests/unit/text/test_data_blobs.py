import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ingest.text.data_blobs import MIN_BLOB_CHARS, blobs, joined, without

BASE64 = "".join(random.Random(1).choices("abcxyzABCXYZ0189+/", k=2_000))


@given(st.integers(0, 600), st.integers(MIN_BLOB_CHARS, 2_000), st.sampled_from(["a b ", "é", "\n", "x. "]))
def test_a_long_run_of_base64_is_found_wherever_it_begins(before: int, length: int, filler: str) -> None:
    front = (filler * before)[:before]
    front = front[:-1] + " " if front else front
    run = BASE64[:length]
    assert blobs(f"{front}{run} and more") == [(len(front), len(front) + length)]


@pytest.mark.parametrize(
    "text",
    [
        BASE64[: MIN_BLOB_CHARS - 1],
        "x" * 5_000,
        "word " * 1_000,
        "https://example.org/" + "a-path/" * 100,
        "=" * 1_000,
        "0" * 1_000,
        "検索" * 1_000,
    ],
)
def test_long_text_is_no_data(text: str) -> None:
    assert blobs(text) == []


def test_a_data_uri_is_data_however_short() -> None:
    text = "An ![image](data:image/png;base64,iVBORw0KGgo=) here."
    ((start, end),) = blobs(text)
    assert text[start:end] == "data:image/png;base64,iVBORw0KGgo="


def test_two_runs_are_two_blobs() -> None:
    assert len(blobs(f"{BASE64[:300]} {BASE64[:400]}\n{BASE64[:300]}")) == 3


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9))), st.integers(0, 40), st.integers(0, 40))
def test_without_leaves_exactly_what_lies_outside(raw: list[tuple[int, int]], start: int, end: int) -> None:
    text = "".join(chr(0x4E00 + index) for index in range(40))
    start, end = min(start, end), max(start, end)
    spans = joined((at, min(40, at + length)) for at, length in raw)
    left = [text[i] for i in range(start, end) if not any(a <= i < b for a, b in spans)]
    assert without(text, spans, start, end).replace(" ", "") == "".join(left)
