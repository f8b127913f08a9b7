"""Which language a page is taken to be written in, from its prose alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ingest.text.language import ENOUGH_LETTERS, language_of_prose
from services.ingest.text.markdown import outline

ENGLISH = "The buoy is checked every morning, and whoever finds a broken cable writes it down in the log of the day."
PROSE = {
    "en": ENGLISH,
    "de": "Die Boje wird jeden Morgen geprüft, und wer ein defektes Kabel findet, schreibt es in das Protokoll.",
    "fr": "La bouée est vérifiée chaque matin, et celui qui trouve un câble abîmé le note dans le journal du jour.",
    "ru": "Буй проверяют каждое утро, и тот, кто находит повреждённый кабель, записывает это в журнал дня.",
    "ar": "يتم فحص العوامة كل صباح، ومن يجد كابلاً تالفاً يكتب ذلك في سجل اليوم حتى يصلحه الآخرون.",
    "zh": "每天早上都要检查浮标，谁发现电缆损坏，就把它写在当天的日志里，以便其他人能够及时修理这条电缆。",
    "ja": "ブイは毎朝点検され、壊れたケーブルを見つけた人は、その日の日誌に書き込みます。ほかの人が修理します。",
    "hi": "हर सुबह बोया की जाँच की जाती है और जिसे टूटी हुई केबल मिलती है, वह उसे दिन की डायरी में लिख देता है।",
}
CODE = """```python
def check_the_buoy(every_morning: bool) -> None:
    # whoever finds a broken cable writes it down in the log of the day
    return None
```
"""
TABLE = "| the name of the buoy | what whoever checks it has to write down |\n|---|---|\n| north | the cable |\n"


def language(text: str) -> str | None:
    return language_of_prose(text, 0, outline(text, 0).solids)


@pytest.mark.parametrize(("code", "text"), PROSE.items())
def test_a_sentence_or_two_are_enough(code: str, text: str) -> None:
    assert language(text) == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Boje\n\nKaputt.",
        CODE,
        TABLE,
        f"# API\n\n{CODE}\n{TABLE}",
        "`" + ENGLISH.replace(",", "") + "`",
        "- [x](https://example.org/the/page/that/says/what/to/do/in/the/morning)\n" * 5,
        "[[the page that says what to do in the morning and in the evening|x]] " * 5,
        "<!-- the page that says what to do in the morning and in the evening -->",
        "max_payload 1024 nats-server.conf 0x80004005\n" * 2,
        "12 345 678 " * 50,
    ],
)
def test_what_is_no_prose_or_too_short_tells_nothing(text: str) -> None:
    assert language(text) is None


def test_code_and_tables_do_not_outweigh_the_prose_around_them() -> None:
    assert language(f"{PROSE['de']}\n\n{CODE * 20}\n{TABLE * 20}\n") == "de"
    assert language(f"{CODE * 20}\n{PROSE['de']}\n") == "de"


def test_one_paragraph_in_another_language_does_not_change_the_page() -> None:
    page = [PROSE["de"]] * 12
    assert {language("\n\n".join([*page[:at], ENGLISH, *page[at:]])) for at in range(13)} == {"de"}


def test_only_the_body_counts() -> None:
    front_matter = f"---\ntitle: {ENGLISH}\n---\n"
    text = front_matter + PROSE["fr"]
    assert language_of_prose(text, len(front_matter), outline(text, len(front_matter)).solids) == "fr"


@given(st.text(max_size=400))
def test_any_text_has_a_code_of_two_letters_or_none(text: str) -> None:
    found = language(text)
    assert found is None or (len(found) == 2 and found.islower())
    assert language(text) == found


def test_too_few_letters_are_not_looked_at() -> None:
    assert language("Der Hund, die Katze und das Pferd."[:ENOUGH_LETTERS]) is None
