import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ingest.text.measure import TokenRuler
from shared.tokens import estimate_tokens

TEXTS = st.text(st.sampled_from("ab é–😀検索한ไ\n"), max_size=60)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("Größe", 2), ("привет", 2), ("検索", 2), ("検索ab", 3), ("😀", 1)],
)
def test_four_characters_are_a_token_and_dense_scripts_count_one_each(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@pytest.mark.parametrize("text", ["한국어", "ไทย", "हिन", "שלום", "عربي", "ひらがな", "ＡＢＣ", "。、「"])
def test_each_character_of_a_dense_script_is_a_token(text: str) -> None:
    assert estimate_tokens(text) == len(text)


@given(TEXTS, st.integers(0, 60), st.integers(0, 60))
def test_the_ruler_measures_as_the_estimate_does(text: str, start: int, length: int) -> None:
    start = min(start, len(text))
    end = min(start + length, len(text))
    assert TokenRuler(text).tokens(start, end) == estimate_tokens(text[start:end])


@given(TEXTS, st.integers(0, 60), st.integers(0, 20))
def test_back_goes_as_far_as_the_tokens_reach(text: str, end: int, tokens: int) -> None:
    end = min(end, len(text))
    start = TokenRuler(text).back(end, tokens)
    assert estimate_tokens(text[start:end]) <= tokens
    assert start == 0 or estimate_tokens(text[start - 1 : end]) > tokens
