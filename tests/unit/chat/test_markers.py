"""Citations are found wherever a model may write them, and nothing else is taken for one."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.chat.marker_grammar import LOOKAHEAD
from services.chat.markers import MarkerParser

GIVEN = (1, 2, 3, 10)


def parsed(deltas: Sequence[str]) -> tuple[str, list[int], int]:
    """Return the text that went out, the numbers cited, and how many were removed; checks every range."""
    parser = MarkerParser(GIVEN)
    pieces = [*(parser.feed(delta) for delta in deltas), parser.finish()]
    text = "".join(piece.text for piece in pieces)
    markers = [marker for piece in pieces for marker in piece.markers]
    for marker in markers:
        assert text[marker.start : marker.end] == f"[{marker.n}]"
    return text, [marker.n for marker in markers], parser.removed


@pytest.mark.parametrize(
    ("written", "text", "numbers"),
    [
        ("Salt [1].", "Salt [1].", [1]),
        ("Salt [1][2].", "Salt [1][2].", [1, 2]),
        ("Salt [1, 2].", "Salt [1][2].", [1, 2]),
        ("Salt [1,2;3] x", "Salt [1][2][3] x", [1, 2, 3]),
        ("Salt [1-3].", "Salt [1][2][3].", [1, 2, 3]),
        ("Salt [3–1].", "Salt [1][2][3].", [1, 2, 3]),
        ("Salt [ 1 ].", "Salt [1].", [1]),
        ("盐［１］。", "盐[1]。", [1]),
        ("Salt 【2】.", "Salt [2].", [2]),
        ("Salt 【2†source】.", "Salt [2].", [2]),
        ("Salt [[2]].", "Salt [2].", [2]),
        ("[10] says so", "[10] says so", [10]),
        ("as a rule[1].", "as a rule[1].", [1]),
        ("as a rule[1][2]. So", "as a rule[1][2]. So", [1, 2]),
        ("Größe[1] ist", "Größe[1] ist", [1]),
        ("in 2024[1] then", "in 2024[1] then", [1]),
        ("two percent [1", "two percent [1", []),
        ("**Salt** [1], then [2]", "**Salt** [1], then [2]", [1, 2]),
    ],
)
def test_every_way_to_cite_becomes_one(written: str, text: str, numbers: list[int]) -> None:
    assert parsed([written]) == (text, numbers, 0)


@pytest.mark.parametrize(
    "written",
    [
        "a[0] and list[1] are items",
        "x[1][2] = 3",
        "call(items[1])",
        "a [link][1] and [1](https://example.org)",
        "[1]: https://example.org",
        "a footnote[^1] and [^1]: below",
        "- [ ] open\n- [x] done",
        r"escaped \[1]",
        "between [0, 1] in [2024]",
        "`items [1]` and ``a ` [1]``",
        "```python\nx = a [1]\n```",
        "```\nnever closed [1]\n\nstill [2]",
        "~~~ text\n[1]\n~~",
        "- ```\n  [1]\n  ```",
        "> ```\n> [1]\n> ```",
        "[7[9]]",
    ],
)
def test_what_is_no_citation_stays_as_it_is(written: str) -> None:
    assert parsed([written]) == (written, [], 0)


@pytest.mark.parametrize(
    ("written", "text", "numbers", "removed"),
    [
        ("Salt [9].", "Salt.", [], 1),
        ("Salt [9] and", "Salt and", [], 1),
        ("Salt [1, 9].", "Salt [1].", [1], 1),
        ("Salt [9][1].", "Salt [1].", [1], 1),
        ("Salt [9] [1].", "Salt [1].", [1], 1),
        ("Salt [2-5].", "Salt [2][3].", [2, 3], 2),
        ("[9] Salt", "Salt", [], 1),
        ("Salt [9]and", "Salt and", [], 1),
        ("a rule[9].", "a rule.", [], 1),
        ("[100-900]", "", [], 2),
    ],
)
def test_numbers_that_were_never_given_are_removed_and_counted(
    written: str, text: str, numbers: list[int], removed: int
) -> None:
    assert parsed([written]) == (text, numbers, removed)


def test_text_behind_a_closed_fence_or_span_is_text_again() -> None:
    written = "```\na [1]\n```\nb [1] `c [1]` d [2] ```x``` e [3]"
    assert parsed([written]) == (written, [1, 2, 3], 0)


def test_a_backtick_that_nothing_closes_counts_until_its_paragraph_ends() -> None:
    assert parsed(["an ` alone [1]\n\nnext [2]"])[1] == [2]


PIECES = st.sampled_from(
    [
        "[",
        "]",
        "1",
        "9",
        "0",
        "［",
        "】",
        "†",
        ",",
        "-",
        " ",
        "\n",
        "`",
        "```",
        "~~~",
        "a",
        "é",
        ".",
        "(",
        ":",
        "\\",
        "^",
        "> ",
    ]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=60))


@settings(max_examples=400)
@given(TEXTS, st.data())
@example("Salt 【1†source】. [2", None)
def test_the_result_does_not_depend_on_where_the_text_is_cut(text: str, data: st.DataObject | None) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8))) if data else [5, 6, 7]
    deltas = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert parsed(deltas) == parsed([text]) == parsed(list(text))


@settings(max_examples=400)
@given(TEXTS)
def test_no_citation_is_left_in_the_text_that_is_not_told(text: str) -> None:
    once, numbers, _ = parsed([text])
    again, told, removed = parsed([once])
    assert (again, told, removed) == (once, numbers, 0)


@given(TEXTS)
def test_only_a_possible_citation_is_held_back(text: str) -> None:
    parser = MarkerParser(())
    fed = sum(len(parser.feed(character).text) for character in text)
    held = len(parser.finish().text)
    assert held <= LOOKAHEAD + 1
    assert fed + held <= len(text) + 1


def test_plain_text_goes_out_at_once() -> None:
    parser = MarkerParser(GIVEN)
    assert [parser.feed(delta).text for delta in ("Take", " two", " percent", ".")] == ["Take", " two", " percent", "."]


def test_a_long_text_takes_linear_time() -> None:
    text, numbers, _ = parsed(["[" * 20_000, "1]" * 10])
    assert re.fullmatch(r"\[+(1\])+", text)
    assert numbers == []
