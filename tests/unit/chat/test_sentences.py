"""A passage is taken apart into what can be quoted, whole and in order."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.chat.sentence_ends import split_sentences
from services.chat.sentences import readable, units_of

PAGE = """\
---
title: Crocks
---
# Crocks

A crock is of *stoneware*. It keeps the
brine dark, see [[brine|the brine]] and [salt](salt.md "Salt").

## Sizes

| Size | Holds |
|------|------:|
| [[small\\|S]] | 5 l |
| L | 15 l |

> **Note.** Never use `iron`.

1. Wash it.
2. Dry it. Then
   wait a day.

```sh
crock --size L
# not a heading. Nor a sentence.
```

![[crock.png]]

Done
"""


def texts(text: str) -> list[str]:
    return [unit.text for unit in units_of(text)]


def test_a_page_becomes_sentences_rows_items_and_code() -> None:
    assert [(unit.kind, unit.text) for unit in units_of(PAGE)] == [
        ("heading", "Crocks"),
        ("sentence", "A crock is of stoneware."),
        ("sentence", "It keeps the brine dark, see the brine and Salt.".replace("Salt", "salt")),
        ("heading", "Sizes"),
        ("row", "Size: S; Holds: 5 l"),
        ("row", "Size: L; Holds: 15 l"),
        ("sentence", "Note."),
        ("sentence", "Never use `iron`."),
        ("item", "Wash it."),
        ("item", "Dry it."),
        ("item", "Then wait a day."),
        ("code", "```sh\ncrock --size L\n# not a heading. Nor a sentence.\n```"),
        ("sentence", "Done"),
    ]


def test_a_unit_knows_what_it_stands_under_and_with_what_it_belongs() -> None:
    units = {unit.text: unit for unit in units_of(PAGE)}
    assert units["Size: L; Holds: 15 l"].headings == ("Crocks", "Sizes")
    assert units["Size: L; Holds: 15 l"].cells == (("Size", "L"), ("Holds", "15 l"))
    assert units["Wash it."].block == units["Then wait a day."].block != units["Done"].block


def test_code_whose_fence_was_cut_off_is_closed() -> None:
    assert texts("```\na. B\nc") == ["```\na. B\nc\n```"]


def test_a_table_without_headers_reads_by_its_cells() -> None:
    assert texts("| a | b |\n| c | d |") == ["a; b", "c; d"]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Dr. Voss came. He left at 5 p.m. and slept.", ["Dr. Voss came.", "He left at 5 p.m. and slept."]),
        ("See e.g. Fig. 3 there. Then go.", ["See e.g. Fig. 3 there.", "Then go."]),
        ("Am 17. Mai kam er, z. B. Nr. 5. Das war alles.", ["Am 17. Mai kam er, z. B. Nr. 5.", "Das war alles."]),
        ("Il y en a 12. La suite, p. ex. demain.", ["Il y en a 12.", "La suite, p. ex. demain."]),
        ("Is it 3.5 m? Yes! “Sure.” Good…", ["Is it 3.5 m?", "Yes!", "“Sure.”", "Good…"]),
        ("潜水员来了。他走了！好", ["潜水员来了。", "他走了！", "好"]),
    ],
)
def test_sentences_end_where_they_end(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


def test_inline_marks_are_read_away_but_code_stays() -> None:
    assert readable("**Bold _and_ more**, `a_b * c` \\[x\\] [[Page#Part]]") == "Bold and more, `a_b * c` [x] Page, Part"
    assert readable("snake_case_name and 2 * 3 * 4") == "snake_case_name and 2 * 3 * 4"


@pytest.mark.parametrize("piece", ["[", "[[", "*", "`", "**a", "| ", "a. ", "](", "![[", "<a", "~~x", "> ", "```\n"])
def test_text_that_never_closes_what_it_opens_takes_no_long(piece: str) -> None:
    started = time.perf_counter()
    units_of(piece * 20_000)
    assert time.perf_counter() - started < 10


@given(st.text(alphabet="ab. \n|-#`*[]()1。?!>", max_size=200))
def test_any_text_is_taken_apart_into_units_that_are_not_empty(text: str) -> None:
    assert all(unit.text.strip() for unit in units_of(text))


@given(st.text(alphabet="aB. !?\"')5", max_size=100))
def test_sentences_joined_are_the_text(text: str) -> None:
    assert " ".join(" ".join(split_sentences(text)).split()) == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Wrap it in `<document>` tags. Then a > b holds.", ["Wrap it in `<document>` tags.", "Then a > b holds."]),
        ("> > Quoted twice.\n> > And on.", ["Quoted twice.", "And on."]),
        ('{% hint style="info" %}\nUse brine.\n{% endhint %}', ["Use brine."]),
        ('{% tabs %} {% tab title="A" %}\n\n- Salt {% icon %} it.', ["Salt it."]),
        ("100 % {brine} is 5 %.", ["100 % {brine} is 5 %."]),
        ("Set [`https_port`](/monitoring.md#x) first.", ["Set `https_port` first."]),
        ("Write `[text](url)` so.", ["Write `[text](url)` so."]),
    ],
)
def test_signs_of_quotes_and_templates_go_and_all_others_stay(text: str, shown: list[str]) -> None:
    assert texts(text) == shown
