from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.retrieval.markers import JOINER, neutralised

READER = re.compile(r"[\[［【〔]\s*\d+(?:\s*[,;，、；–—~-]\s*\d+)*\s*(?:†[^\]】］〕]*)?[\]］】〕]")
"""What a generous reader takes for a citation."""


PLAIN = ["[1]", "[12]", "[ 3 ]", "[1, 2]", "[1,2;3]", "[1-3]", "[1–3]", "[[1]]", "[1](x)", "a[0]", "a[0][1]", "[\n1\n]"]
FULL_WIDTH = ["【1】", "［1］", "〔1〕", "【1†source】", "【12†L1-L3】", "[١]", "[１]"]


@pytest.mark.parametrize("fake", [*PLAIN, *FULL_WIDTH])
def test_what_looks_like_a_citation_no_longer_does(fake: str) -> None:
    assert READER.search(fake)
    assert not READER.search(neutralised(f"see {fake} there"))


@pytest.mark.parametrize(
    "text", ["[a]", "[^1]", "[x1]", "[1.5]", "[]", "[ ]", "(1)", "{1}", "a[i]", "[[Page 1]]", "[1a]", "- [ ] 1"]
)
def test_what_no_reader_takes_for_a_citation_stays_as_it_is(text: str) -> None:
    assert neutralised(text) == text


@given(st.text(alphabet="[]【】［］†0123, -–\n a\\", max_size=60))
def test_no_text_keeps_a_fake_and_the_source_comes_back_by_deleting_joiners(text: str) -> None:
    safe = neutralised(text)

    assert not READER.search(safe)
    assert safe.replace(JOINER, "") == text
    assert neutralised(safe) == safe


def test_a_long_run_of_brackets_and_digits_is_read_in_linear_time() -> None:
    hostile = "[" * 20_000 + "1," * 100_000 + "[ " * 50_000

    assert neutralised(hostile) == hostile
