"""A citation stands for the right sentence, told as soon as that is complete, wherever the text is cut."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.chat.cited_sentences import CitedSentences
from services.chat.markers import MarkerParser


def told(deltas: Sequence[str]) -> tuple[str, list[tuple[int, int, int]]]:
    """Return the text, and each citation's number with its range."""
    parser, sentences = MarkerParser((1, 2, 3)), CitedSentences()
    text, cited = "", []
    for parsed in [*(parser.feed(delta) for delta in deltas), parser.finish()]:
        text += parsed.text
        cited += sentences.feed(parsed.text, parsed.markers)
    return text, [(each.marker.n, each.start, each.end) for each in (*cited, *sentences.finish())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It takes two percent [1]. Then it rests.", [(1, "It takes two percent [1].")]),
        ("It takes two percent. [1] Then it rests.", [(1, "It takes two percent.")]),
        ("It takes two percent.[1] It rests long [2].", [(1, "It takes two percent."), (2, "It rests long [2].")]),
        ("Salt is quite cheap [1] and time is not [2].", [(1, "Salt is quite cheap"), (2, "and time is not [2].")]),
        ("It is so [1][2]. Yes.", [(1, "It is so [1][2]."), (2, "It is so [1][2].")]),
        ("According to [1], it takes two percent. Yes.", [(1, "According to [1], it takes two percent.")]),
        ("- take some salt [1]\n- wait for weeks [2]\n", [(1, "take some salt"), (2, "wait for weeks")]),
        ("Add e.g. some salt [1]. Wait.", [(1, "Add e.g. some salt [1].")]),
        ("It took 2.5 percent, i.e. much [1]. Wait.", [(1, "It took 2.5 percent, i.e. much [1].")]),
        ("盐是百分之二[1]。等三天[2]。", [(1, "盐是百分之二[1]。"), (2, "等三天[2]。")]),
        ("[1] says so much. Yes.", [(1, "says so much.")]),
        ("No end here [1]", [(1, "No end here")]),
        ("the flow is steady . it was measured . [1]", [(1, "the flow is steady . it was measured .")]),
        ("the flow is steady.\nit was measured [1].", [(1, "it was measured [1].")]),
        ("Nothing.", []),
    ],
)
def test_a_citation_stands_for_its_sentence(text: str, expected: list[tuple[int, str]]) -> None:
    written, cited = told([text])
    assert [(n, written[start:end]) for n, start, end in cited] == expected


def test_a_citation_is_told_when_the_next_sentence_begins() -> None:
    parser, sentences = MarkerParser((1,)), CitedSentences()
    counts: list[int] = []
    for delta in ("It takes ", "salt [1]", ".", " ", "Then"):
        parsed = parser.feed(delta)
        counts.append(len(sentences.feed(parsed.text, parsed.markers)))
    assert counts == [0, 0, 0, 0, 1]


PIECES = st.sampled_from(
    ["Salt", " is", " two", " [1]", "[2]", ".", " ", "\n", "- ", "e.g.", "!", "。", "词", '"', ")", "it"]
)


def test_an_abbreviation_behind_a_sentence_without_a_blank_ends_none_wherever_the_text_is_cut() -> None:
    text = "。e.g. [1]Salt"
    assert told([text]) == told(list(text)) == (text, [(1, 1, len(text))])


@given(st.lists(PIECES, max_size=30).map("".join), st.data())
def test_the_ranges_do_not_depend_on_where_the_text_is_cut(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    deltas = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    written, cited = told(deltas)
    assert (written, cited) == told([text]) == told(list(text))
    assert all(0 <= start <= end <= len(written) for _, start, end in cited)
    assert len(cited) == len(MarkerParser((1, 2, 3)).feed(text + "\n\n").markers)
