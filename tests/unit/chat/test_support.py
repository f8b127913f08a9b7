"""A cited sentence is quoted, supported, weak or unsupported by its passages, whatever it is made of."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.chat.sentences import units_of
from services.chat.support import OverlapSupport
from shared.contracts.chat import SupportLabel
from tests.unit.chat.support_figures import page_text

KITCHEN = """\
# Sauerkraut

Sauerkraut takes **two percent** of its weight in [salt](salt.md). It rests for three weeks at 18 °C.
The crock is not washed with soap.

| Cabbage | Weeks | Salt |
|---|---|---|
| white | 3 | 20 g |
| red | 5 | 25 g |

- Never open the crock before the third day.
- Keep it in the dark: light spoils the brine.
"""

check = OverlapSupport().check


def label(sentence: str, *passages: str) -> SupportLabel:
    return check(sentence, passages or [KITCHEN]).label


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Sauerkraut takes two percent of its weight in salt.", "quoted"),
        ("“SAUERKRAUT TAKES *two percent* of its weight in salt”", "quoted"),
        ("Cabbage: red; Weeks: 5; Salt: 25 g", "quoted"),
        ("red, 5, 25 g", "quoted"),
        ("Keep it in the dark", "quoted"),
        ("Sauerkraut rests three weeks at a temperature of 18 °C.", "supported"),
        ("Red cabbage takes 25 g of salt.", "supported"),
        ("Sauerkraut rests for four weeks.", "unsupported"),
        ("It rests for three weeks at 18 °F.", "unsupported"),
        ("White cabbage takes 25 g of salt.", "unsupported"),
        ("The crock is washed with soap.", "unsupported"),
        ("Open the crock before the third day.", "unsupported"),
        ("Never open the crock after the third day.", "unsupported"),
        ("The Petrel cruises at 9.5 knots.", "unsupported"),
    ],
)
def test_a_sentence_is_labelled_by_what_its_passage_says(sentence: str, expected: SupportLabel) -> None:
    assert label(sentence) == expected


def test_a_quote_that_leaves_out_its_negation_is_none() -> None:
    passage = "Nobody said that the crock is washed with soap every day."
    assert label("the crock is washed with soap every day", passage) != "quoted"


def test_all_passages_under_one_number_count_together() -> None:
    assert label("Sauerkraut takes two percent of its weight in salt.", "Dill is an herb.", KITCHEN) == "quoted"


def test_numbers_are_read_whatever_their_separators() -> None:
    assert (
        label("Der Tank fasst 2.400 Liter Diesel.", "Tankinhalt: Der Tank fasst 2400 Liter Diesel im Winter.")
        == "supported"
    )
    assert label("La franchise est de 12.000 euros.", "Il y a une franchise de 12 000 euros par an.") == "supported"


def test_scripts_without_blanks_are_compared() -> None:
    passage = "潜水员最多可以下潜到三十米。每人每天最多潜水两次。"
    assert label("每人每天最多潜水两次", passage) == "quoted"
    assert label("船长决定船是否离开码头", passage) == "unsupported"


def test_a_statement_in_another_language_is_held_to_its_numbers_and_names() -> None:
    passage = "Der Alarm von K1 löst aus, wenn die Temperatur 10 Minuten lang über −68 °C liegt."
    assert label("The alarm of cabinet K1 sounds above −68 °C for 10 minutes.", passage) == "supported"
    assert label("The alarm of cabinet K1 sounds above −58 °C for 10 minutes.", passage) != "supported"


def test_nothing_is_supported_by_nothing() -> None:
    assert label("Salt is white.", "") == "unsupported"
    assert label("", KITCHEN) == "unsupported"
    assert label("of the and", KITCHEN) == "unsupported"


PAGES = (
    "wiki/concepts/dive-safety-rules.md",
    "wiki/concepts/probenlagerung.md",
    "wiki/entities/institut-armor-ocean.md",
)


@pytest.mark.parametrize("page", PAGES)
def test_every_unit_of_a_page_is_a_quote_of_it(page: str) -> None:
    text = page_text(page)
    assert {label(unit.text, text) for unit in units_of(text)} == {"quoted"}


@settings(max_examples=60, deadline=None)
@given(sentence=st.text(max_size=200), passage=st.text(max_size=400))
def test_any_text_has_a_label_and_a_score_within_bounds(sentence: str, passage: str) -> None:
    support = check(sentence, [passage])
    assert 0.0 <= support.score <= 1.0
    assert support == check(sentence, [passage])
