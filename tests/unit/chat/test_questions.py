"""A question is cleaned and bounded, and a follow-up is searched with the words that it leaves out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.chat.clean_text import DeltaCleaner, cleaned
from services.chat.follow_up import depends, standalone
from services.chat.languages import language_of
from services.chat.question import MOST_SEARCHED, clean_question, searched, title_of
from services.chat.refusals import refusal_text
from services.chat.repetition import WINDOW, RepetitionGuard, ends_in_repetition
from shared.errors import InvalidInput

SALT = "How much salt does sauerkraut take?"


@pytest.mark.parametrize("text", ["", " \t\n", "\u0000\u0007", "\u00a0\u3000"])
def test_a_question_of_nothing_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="nothing but blanks"):
        clean_question(text)


def test_control_characters_are_taken_out_of_a_question() -> None:
    assert clean_question(" How\u0000 much\u001b[31m salt?\r\nNow\u0085. ") == "How much[31m salt?\nNow."


def test_a_long_question_is_searched_by_its_beginning_and_its_end() -> None:
    long = "Beginning " + "x " * 4_000 + "what is the end?"
    query = searched(long)
    assert len(query) <= MOST_SEARCHED
    assert query.startswith("Beginning")
    assert query.endswith("what is the end?")


def test_a_title_is_one_short_line() -> None:
    assert title_of("How much?\nMore.") == "How much?"
    title = title_of("word " * 100)
    assert len(title) <= 80
    assert title.endswith("…")
    assert len(title_of("x" * 500)) <= 80


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("And how long does it rest?", {"salt", "sauerkraut"}),
        ("Why?", {"salt", "sauerkraut"}),
        ("What about carrots?", {"salt", "sauerkraut"}),
        ("Carrots in winter?", {"salt", "sauerkraut"}),
        ("How much water?", {"salt", "sauerkraut"}),
        ("Does this depend on the season of the year?", {"salt", "sauerkraut"}),
        ("Und wie lange ruht es dann im Keller?", {"salt", "sauerkraut"}),
        ("Wovon hängt das ab, und was folgt daraus?", {"salt", "sauerkraut"}),
        ("Et combien de temps doit-elle reposer en cave ?", {"salt", "sauerkraut"}),
    ],
)
def test_a_follow_up_is_searched_with_the_words_of_the_question_before(question: str, words: set[str]) -> None:
    query = standalone(question, [SALT])
    assert query.startswith(question)
    assert words <= set(query.split())


@pytest.mark.parametrize(
    "question",
    [
        "How is the oxygen sensor of the glider calibrated?",
        "Wie wird der Sauerstoffsensor des Gleiters kalibriert?",
        "Comment calibrer le capteur d'oxygène du planeur ?",
        "What is the capital of France?",
        "Wer unterschreibt Genehmigungen?",
    ],
)
def test_a_question_of_its_own_is_searched_as_it_is(question: str) -> None:
    assert standalone(question, [SALT]) == question
    assert not depends(question)


def test_a_chain_of_follow_ups_keeps_its_subject() -> None:
    assert "sauerkraut" in standalone("Why?", [SALT, "And how long does it rest?"])


def test_a_first_question_is_searched_as_it_is() -> None:
    assert standalone("Why?", []) == "Why?"


@given(st.lists(st.text(max_size=200), max_size=10), st.text(max_size=200))
def test_a_query_carries_a_bounded_number_of_words(earlier: list[str], question: str) -> None:
    assert len(standalone(question, earlier).split()) <= len(question.split()) + 12


@pytest.mark.parametrize(
    ("question", "language"),
    [
        (SALT, "en"),
        ("Wieviel Salz braucht Sauerkraut?", "de"),
        ("Was ist ein Gezeitenfenster?", "de"),
        ("Was wurde in Skarvik gemessen?", "de"),
        ("Wann kam Otter?", "de"),
        ("In welchem Jahr wurde das Lied „Fog on the Pier“ gesungen?", "de"),
        ("Combien de sel faut-il pour la choucroute ?", "fr"),
        ("Qu'est-ce que l'indice de canopée ?", "fr"),
        ("salt", "en"),
        ("盐有多少？", "en"),
    ],
)
def test_a_refusal_speaks_the_language_of_the_question(question: str, language: str) -> None:
    assert language_of(question) == language
    assert refusal_text("nothing_found", question) != refusal_text("weak_evidence", question)


@given(st.text(st.characters(), max_size=80), st.data())
def test_cleaning_does_not_depend_on_where_the_text_is_cut(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    cleaner = DeltaCleaner()
    pieces = [cleaner.feed(text[start:end]) for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert "".join(pieces) + cleaner.finish() == cleaned(text)
    assert cleaned(cleaned(text)) == cleaned(text)


def test_a_character_that_a_provider_cut_in_two_is_whole() -> None:
    high, low = json.loads('"\\ud83e"'), json.loads('"\\udd6c"')
    cleaner = DeltaCleaner()
    assert cleaner.feed(f"crisp {high}") + cleaner.feed(f"{low}!") == "crisp 🥬!"
    assert cleaned(f"half {high} left") == "half \ufffd left"


@pytest.mark.parametrize("unit", ["So it is. ", "-", "Take salt and wait.\n" * 10, "x" * 999 + "y"])
def test_a_text_that_goes_in_circles_is_noticed(unit: str) -> None:
    guard = RepetitionGuard()
    text = "It takes two percent of salt. " + unit * (3 * WINDOW // len(unit) + 5)
    assert any(guard.repeats(text[start : start + 7]) for start in range(0, len(text), 7))


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"{number}. Take salt and wait." for number in range(400)),
        "| a | b |\n|---|---|\n" + "\n".join(f"| {number} | yes |" for number in range(300)),
        "Heading\n" + "-" * 400 + "\ntext",
        "So it is. " * 3,
    ],
)
def test_lists_tables_and_rules_are_no_circles(text: str) -> None:
    assert not ends_in_repetition(text[-WINDOW:])
