from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shared.embedding.windows import WindowLimits, pool, split_windows, spread, unit_rows

SIZES = st.integers(1, 50)


@given(count=st.integers(0, 2_000), size=SIZES, limit=st.integers(40, 2_000))
def test_ranges_within_the_limit_cover_everything_once_in_nearly_equal_parts(count: int, size: int, limit: int):
    ranges = spread(count, size, limit)
    lengths = [end - start for start, end in ranges]

    if count <= size * limit:
        assert [start for start, _ in ranges] == [0, *(end for _, end in ranges[:-1])]
        assert ranges[-1][1] == count
        assert max(lengths) - min(lengths) <= 1
    assert max(lengths) <= size


@given(size=SIZES, limit=st.integers(1, 20), extra=st.integers(1, 500))
def test_a_text_beyond_the_limit_is_sampled_from_its_start_to_its_end(size: int, limit: int, extra: int):
    count = size * limit + extra
    ranges = spread(count, size, limit)

    assert len(ranges) == limit
    assert all(end - start == size for start, end in ranges)
    assert ranges[0][0] == 0
    assert limit == 1 or ranges[-1][1] == count
    assert all(a[1] <= b[0] for a, b in pairwise(ranges))


@given(text=st.text(max_size=500), size=st.integers(1, 40))
def test_windows_joined_are_the_text(text: str, size: int):
    windows = split_windows(text, WindowLimits(size, max_windows=1_000))

    assert "".join(window.text for window in windows) == text
    assert all(window.weight >= 1 for window in windows)


def test_a_text_that_fits_is_one_window():
    assert [window.text for window in split_windows("one two three", WindowLimits(3))] == ["one two three"]


def test_dense_scripts_fill_a_window_sooner():
    limits = WindowLimits(100)

    assert len(split_windows("word " * 100, limits)) == 1
    assert len(split_windows("消息保存" * 100, limits)) == 4
    assert len(split_windows("1234567890" * 100, limits)) == 5


def test_the_pooled_vector_leans_to_the_heavier_window():
    axes = np.eye(2, dtype=np.float32)

    pooled = pool(axes, [3, 1])

    np.testing.assert_allclose(pooled, np.array([3, 1]) / np.sqrt(10), rtol=1e-6)
    assert pooled.dtype == np.float32


def test_windows_that_cancel_out_give_the_first():
    rows = np.array([[1, 0], [-1, 0]], dtype=np.float32)

    assert pool(rows, [1, 1]).tolist() == [1, 0]


def test_rows_become_unit_and_zeros_stay():
    rows = unit_rows(np.array([[3, 4], [0, 0]], dtype=np.float32))

    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, 0]], rtol=1e-6)
    assert rows.dtype == np.float32
