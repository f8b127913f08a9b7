"""An excerpt shows the words that were found, with marks that stand exactly on them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.chat.excerpts import excerpt, is_unspaced, words_of


def marked(text: str, query: str) -> list[str]:
    part = excerpt(text, query)
    return [part.text[mark.start : mark.end] for mark in part.marks]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("salt", ["Salt", "salt"]), ("sal", ["Salt", "salt"]), ("two salt", ["Salt", "two", "salt"]),
        ("tw salt", ["Salt", "salt"]), ("none", []), ("", []), ("(", []), ("salt.", ["Salt", "salt"]),
    ],
)  # fmt: skip
def test_every_word_found_is_marked(query: str, words: list[str]) -> None:
    assert marked("Salt: two percent\nof   salt.", query) == words


def test_a_long_text_is_cut_around_the_first_word_found() -> None:
    part = excerpt(f"{'before ' * 100}salt {'after ' * 100}", "salt")
    assert part.text.startswith("… before")
    assert part.text.endswith("after …")
    assert len(part.text) <= 244
    assert [part.text[mark.start : mark.end] for mark in part.marks] == ["salt"]


def test_a_script_without_blanks_is_marked_where_it_stands() -> None:
    assert is_unspaced("多少盐")
    assert not is_unspaced("salz")
    assert marked("酸菜需要多少盐？", "多少盐") == ["多少盐"]


def test_words_are_each_once_and_the_last_stays_last() -> None:
    assert words_of("Salt and salt") == ("and", "salt")


@given(st.text(max_size=400), st.text(max_size=20))
def test_marks_are_in_order_and_within_the_excerpt(text: str, query: str) -> None:
    part = excerpt(text, query)
    places = [position for mark in part.marks for position in (mark.start, mark.end)]
    assert places == sorted(places)
    assert all(0 <= place <= len(part.text) for place in places)
    assert len(part.text) <= 244
