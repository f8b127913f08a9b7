"""How texts are cut into tokens, and tokens and words taken apart."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.vectors.lexical.compounds import COMPOUND_MAX_CHARS, compound_parts
from shared.vectors.lexical.names import WHOLE_MAX_CHARS, Name, humps, taken_apart
from shared.vectors.lexical.spelling import KEPT_MAX_CHARS, KEPT_TOKENS, Spelling, spelling
from shared.vectors.lexical.tokens import Tokens, tokens


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't stop, e.g. here.", ["Don", "t", "stop", "e.g", "here"]),
        ("`--max-payload` in nats-server.conf", ["max-payload", "in", "nats-server.conf"]),
        ("std::vector<int> js.api/v2", ["std::vector", "int", "js.api/v2"]),
        ("C++, C# and .NET", ["C++", "C#", "and", ".NET"]),
        ("operator[] or operator ==", ["operator", "or", "operator", "operator[]", "operator=="]),
        ("nach §§ 15, 16 EStG", ["nach", "§15", "16", "EStG"]),
        ("1,000 and 3,14 but 1, 2", ["1.000", "and", "3.14", "but", "1", "2"]),
        ("Größe ﬁx Tool™", ["Größe", "fix", "Tool"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("...", []),
    ],
)
def test_words_keep_what_joins_them_and_the_signs_of_names(text: str, words: list[str]) -> None:
    assert tokens(text) == Tokens(words, [], [])


def test_scripts_without_blanks_are_cut_into_pairs() -> None:
    assert tokens("税务局v2.1，税") == Tokens(["v2.1"], ["税务", "务局", "税"], ["税", "务", "局", "税"])
    assert tokens("ｶﾞｲﾄﾞ 한국어") == Tokens([], ["ガイ", "イド", "한국", "국어"], [])


def test_vowel_signs_stay_with_their_consonant() -> None:
    assert tokens("ที่นี่").pairs == ["ที่นี่"]


@given(st.text(max_size=200))
def test_tokens_hold_nothing_that_the_text_does_not(text: str) -> None:
    cut = tokens(text)
    assert all(cut.words)
    assert all(cut.pairs)
    assert {*cut.characters} <= {character for pair in cut.pairs for character in pair}


@pytest.mark.parametrize(
    ("token", "name"),
    [
        ("word", Name(["word"], "", [])),
        ("max_payload", Name(["max", "payload"], "maxpayload", [])),
        ("__init__", Name(["init"], "", [])),
        ("___", Name([], "", [])),
        ("nats-server.conf", Name(["nats", "server", "conf"], "natsserverconf", [])),
        ("UTF-8", Name(["UTF", "8"], "UTF8", [])),
        ("v2.10.3", Name(["v2", "10", "3"], "2.10.3", [])),
        ("2024-05-01", Name(["2024", "05", "01"], "2024-05-01", [])),
        ("1.000.000", Name(["1", "000", "000"], "1000000", [])),
        ("3.14", Name(["3", "14"], "3.14", [])),
        ("C++", Name(["C"], "", ["c++"])),
        (".NET", Name(["NET"], "", [".net"])),
        ("§15", Name(["15"], "", ["§15"])),
        ("operator[]", Name(["operator"], "", ["operator[]"])),
        ("https://nats.io", Name(["https", "nats", "io"], "", [])),
        ("हिन्दी", Name(["हिन्दी"], "", [])),
    ],
)
def test_a_token_is_taken_apart(token: str, name: Name) -> None:
    assert taken_apart(token) == name


def test_a_chain_that_is_too_long_has_no_whole() -> None:
    assert taken_apart("/".join(["folder"] * WHOLE_MAX_CHARS)).whole == ""


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("getUserName", ["get", "User", "Name"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("utf8ToString", ["utf8", "To", "String"]),
        ("JetStream", ["Jet", "Stream"]),
        ("IPv6", []),
        ("URLs", []),
        ("NATS", []),
        ("Word", []),
        ("großÄndern", []),
    ],
)
def test_camel_case_has_parts_where_a_new_word_begins(word: str, parts: list[str]) -> None:
    assert humps(word) == parts


@given(st.from_regex(r"[A-Za-z0-9]{1,20}", fullmatch=True))
def test_humps_are_at_least_two_parts_that_make_the_word(word: str) -> None:
    parts = humps(word)
    assert not parts or (len(parts) > 1 and "".join(parts) == word)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("Umsatzsteuervoranmeldung", ("umsatzsteuer", "voranmeldung")),
        ("umsatzsteuer", ("umsatz", "steuer")),
        ("Probenlagerung", ("proben", "lagerung")),
        ("Arbeitszimmer", ("arbeit", "zimmer")),
        ("Grunderwerbsteuer", ("grund", "erwerb", "steuer")),
        ("Verteidigung", ()),
        ("Haustür", ()),
        ("database", ()),
    ],
)
def test_german_compounds_have_parts(word: str, parts: tuple[str, ...]) -> None:
    assert compound_parts(word) == parts


def test_a_word_too_long_for_a_compound_is_left_alone() -> None:
    assert compound_parts("steuer" * COMPOUND_MAX_CHARS) == ()


def test_what_is_kept_is_bounded_and_changes_nothing() -> None:
    small = Spelling("en")
    first = small.terms("running")
    for number in range(KEPT_TOKENS + 10):
        small.terms(f"w{number}")
    small.terms("x" * (KEPT_MAX_CHARS + 1))
    assert small.kept <= KEPT_TOKENS
    assert small.terms("running") == first


@given(st.lists(st.sampled_from(["the", "running", "maxPayload", "v2.10.3", "Umsatzsteuer", "C++", "été", "42"])))
def test_counting_a_text_is_spelling_each_of_its_tokens(tokens: list[str]) -> None:
    for language in ("en", "de", "fr", ""):
        single, others = Spelling(language).count(tokens)
        words = Counter(single)
        for terms, times in others:
            for term in terms.words:
                words[term] += times
        assert words == Counter(term for token in tokens for term in Spelling(language).terms(token).words)
        extras = [term for terms, times in others for term in terms.extras * times]
        expected = [term for token in tokens for term in Spelling(language).terms(token).extras]
        assert Counter(extras) == Counter(expected)


def test_unknown_languages_share_one_spelling() -> None:
    assert spelling("xx") is spelling("YY")
    assert spelling("DE") is spelling("de")
