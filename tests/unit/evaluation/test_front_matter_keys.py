"""Keys taken out of front matter, with everything that belongs to them and nothing else."""

from __future__ import annotations

import pytest

from deploy.evaluation.front_matter_keys import without_keys
from shared.errors import InvalidInput

PAGE = """---
title: "abs: a function"
f1_keywords: ["abs", "labs"]
aliases:
- one
- two

"quoted" :
  - a
  - b
author: me
# a remark
---
# abs

keywords: stays
"""


@pytest.mark.parametrize(
    ("key", "gone"),
    [
        ("f1_keywords", 'f1_keywords: ["abs", "labs"]\n'),
        ("aliases", "aliases:\n- one\n- two\n\n"),
        ("quoted", '"quoted" :\n  - a\n  - b\n'),
        ("author", "author: me\n# a remark\n"),
        ("keywords", ""),
        ("key", ""),
    ],
)
def test_a_key_goes_with_its_value_and_the_rest_stays(key: str, gone: str) -> None:
    assert without_keys(PAGE.encode(), {key}).decode() == PAGE.replace(gone, "")


def test_several_keys_go_at_once() -> None:
    kept = without_keys(PAGE.encode(), {"f1_keywords", "aliases", "quoted", "author"}).decode()
    assert kept == '---\ntitle: "abs: a function"\n---\n# abs\n\nkeywords: stays\n'


def test_line_ends_of_windows_are_understood_and_kept() -> None:
    page = b"---\r\na: 1\r\nkeys:\r\n- x\r\nb: 2\r\n---\r\nBody\r\n"
    assert without_keys(page, {"keys"}) == b"---\r\na: 1\r\nb: 2\r\n---\r\nBody\r\n"


def test_a_text_over_several_lines_goes_whole() -> None:
    page = b"---\nkeys: |\n  one: 1\n  two\nb: 2\n---\nBody\n"
    assert without_keys(page, {"keys", "one"}) == b"---\nb: 2\n---\nBody\n"


def test_a_page_without_front_matter_stays_as_it_is() -> None:
    assert without_keys(b"\xef\xbb\xbfkeys: x\n", {"keys"}) == b"\xef\xbb\xbfkeys: x\n"


def test_a_key_that_can_not_be_taken_out_is_refused_not_left_in() -> None:
    with pytest.raises(InvalidInput, match="keys can't be taken out"):
        without_keys(b"---\n{a: 1, keys: x}\n---\nBody\n", {"keys"})
