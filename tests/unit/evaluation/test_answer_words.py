"""Texts as words: what is the same, and what is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.evaluation.answers.words import holds, share_within, words_of


def test_case_punctuation_markup_and_line_ends_make_no_difference() -> None:
    assert words_of("**Two\nTides**, `a` [[day]]: 1,000 m/s") == ["two", "tides", "a", "day", "1", "000", "m", "s"]


def test_scripts_without_blanks_are_taken_character_by_character() -> None:
    assert words_of("第50届超级碗 NFL") == ["第", "50", "届", "超", "级", "碗", "nfl"]
    assert holds("黑豹队的防守只丢了308分。", "308分")


@pytest.mark.parametrize(
    ("text", "phrase", "expected"),
    [
        ("It costs 95,000 euros.", "95,000 Euros", True),
        ("It costs 295,000 euros.", "95,000 euros", False),
        ("forty-four balls", "four", True),
        ("fourteen balls", "four", False),
        ("four balls red", "red balls", False),
        ("Flag: 3; Meaning: suspect", "| 3 | suspect |", True),
        ("Flag: suspect; Meaning: 3", "| 3 | suspect |", False),
        ("anything", "| - |", False),
        ("", "word", False),
    ],
)
def test_a_phrase_stands_in_a_text_in_whole_words_and_in_order(text: str, phrase: str, expected: bool) -> None:
    assert holds(text, phrase) is expected


@given(before=st.text(max_size=20), phrase=st.text(min_size=1, max_size=20), after=st.text(max_size=20))
def test_what_was_put_into_a_text_is_found_there(before: str, phrase: str, after: str) -> None:
    assert holds(f"{before} {phrase} {after}", phrase) is bool(words_of(phrase.replace("|", " ")))


def test_the_share_counts_each_word_once() -> None:
    assert share_within("tides tides wind rain snow", "wind and rain") == 0.5
    assert share_within("...", "wind") == 0.0
