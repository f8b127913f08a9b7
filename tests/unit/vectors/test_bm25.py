"""What counts as the same word in documents and queries, in which language, and how much it weighs."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import InvalidInput
from shared.vectors.store import SparseVector
from tests.unit.vectors.words import BM25, meets, terms, touches, weights


@pytest.mark.parametrize(
    ("query", "document", "language"),
    [
        ("runs", "It was running.", "en"),
        ("query", "two queries", "en"),
        ("steuererklarung", "Die Steuererklärungen sind fertig.", "de"),
        ("Haus", "viele Häuser", "de"),
        ("Strasse", "die Straße", "de"),
        ("Ueberpruefung", "die Überprüfung", "de"),
        ("Uberprufungen", "die Überprüfung", "de"),
        ("Bäuerin", "eine Baeuerin", "de"),
        ("neue Quellen", "eine neue Quelle", "de"),
        ("developpements", "le développement", "fr"),
        ("книга", "много книг", "ru"),
        ("елка", "ёлка", "ru"),
        ("كتاب", "كِتَاب", "ar"),
        ("θαλασσα", "ΘΆΛΑΣΣΑ", "el"),
        ("istanbul", "İstanbul", "tr"),
        ("HELLO", "hello", "xx"),
    ],
)
def test_inflection_case_and_accents_do_not_matter(query: str, document: str, language: str) -> None:
    assert meets(query, document, language)


def test_letters_that_differ_by_more_than_an_accent_stay_apart() -> None:
    assert not touches("йод", "иод", "ru")


@pytest.mark.parametrize(
    ("query", "document", "language"),
    [
        ("自然语言", "检索增强生成是一种自然语言处理技术", "zh"),
        ("税", "个人所得税法", "zh"),
        ("検索", "日本語の検索エンジン", "ja"),
        ("エンジン", "日本語の検索ｴﾝｼﾞﾝ", "ja"),
        ("한국어", "한국어를 배웁니다", "ko"),
        ("ภาษา", "ผมเรียนภาษาไทย", "th"),
        ("भाषा", "हिन्दी भाषा में", "hi"),
        ("မြန်မာ", "ဤသည်မြန်မာစာဖြစ်သည်", "my"),
    ],
)
def test_scripts_without_blanks_or_with_vowel_signs_are_found_by_their_words(
    query: str, document: str, language: str
) -> None:
    assert meets(query, document, language)
    assert meets(query, document, "en")


@pytest.mark.parametrize(
    ("one", "other"), [("ＡＢＣ１２３", "abc123"), ("ｶﾞｲﾄﾞ", "ガイド"), ("ﬁle", "file"), ("m²", "m2")]
)
def test_width_and_ligatures_do_not_matter(one: str, other: str) -> None:
    assert BM25.document(one, "en") == BM25.document(other, "en")


@given(st.text(alphabet="aäöüßéñçåøžёйάงำ가 .-_", max_size=40), st.sampled_from(["en", "de", "ru", "th"]))
def test_composed_and_decomposed_text_are_the_same(text: str, language: str) -> None:
    assert BM25.document(unicodedata.normalize("NFD", text), language) == BM25.document(
        unicodedata.normalize("NFC", text), language
    )


@pytest.mark.parametrize(
    ("text", "language"), [("the of and is a", "en"), ("für über die und", "de"), ("à été", "fr"), ("и не на", "ru")]
)
def test_stop_words_of_the_language_are_left_out_and_no_others(text: str, language: str) -> None:
    assert terms(BM25.document(text, language)) == set()
    assert terms(BM25.document(text, "xx")) != set()


def test_a_stop_word_within_a_name_is_part_of_the_whole() -> None:
    assert meets("all_of", "use std::all_of here", "xx")
    assert touches("all_of", "use `all-of` here", "en")
    assert not touches("all of", "use `all-of` here", "en")


def test_a_query_finds_documents_of_each_language() -> None:
    query = terms(BM25.query("running Häuser", ["en", "de"]))
    assert terms(BM25.document("runs", "en")) <= query
    assert terms(BM25.document("Haus", "de")) <= query


@pytest.mark.parametrize(
    ("query", "weight"), [("die Fische im Teich", 0.2), ("how do fish die", 1.0), ("die hard", 0.2)]
)
def test_a_stop_word_of_the_querys_language_hardly_counts_in_others(query: str, weight: float) -> None:
    [die] = BM25.document("die", "en").indices
    assert weights(BM25.query(query, ["de", "en", "fr"]))[die] == weight


def test_a_query_of_stop_words_only_finds_them_where_they_are_words() -> None:
    assert terms(BM25.query("die", ["de", "en"])) == terms(BM25.document("die", "en"))
    assert terms(BM25.query("die", ["de"])) == set()


def test_a_query_without_languages_takes_words_as_they_stand() -> None:
    assert terms(BM25.query("running", [])) == terms(BM25.document("running", "xx"))
    assert BM25.query("", []) == SparseVector((), ())


def test_languages_are_codes_in_any_case() -> None:
    assert BM25.document("Häuser", "DE") == BM25.document("Häuser", "de")


def test_a_word_weighs_more_the_more_often_it_stands_there() -> None:
    once, often = weights(BM25.document("alpha beta", "en")), weights(BM25.document("alpha alpha alpha beta", "en"))
    [alpha] = BM25.query("alpha", ["en"]).indices
    [beta] = BM25.query("beta", ["en"]).indices
    assert often[alpha] > often[beta]
    assert once[alpha] < often[alpha]


def test_a_word_of_a_document_of_usual_length_weighs_as_the_formula_says() -> None:
    text = " ".join(["alpha", *(f"word{n}" for n in range(119))])
    [alpha] = BM25.query("alpha", ["en"]).indices
    assert weights(BM25.document(text, "en"))[alpha] == pytest.approx(2.2 / 2.2)


def test_parts_and_other_spellings_weigh_less_and_make_no_document_longer() -> None:
    plain, name = weights(BM25.document("alpha getusername", "en")), weights(BM25.document("alpha getUserName", "en"))
    [alpha] = BM25.query("alpha", ["en"]).indices
    [user] = BM25.query("user", ["en"]).indices
    assert plain[alpha] == name[alpha]
    assert name[user] < name[alpha]


def test_each_word_of_a_query_weighs_one_and_its_parts_half() -> None:
    assert set(BM25.query("alpha alpha beta", ["en", "de"]).values) == {1.0}
    assert sorted(BM25.query("getUserName", ["en"]).values) == [0.5, 0.5, 0.5, 1.0]


def test_text_that_is_no_unicode_is_refused() -> None:
    with pytest.raises(InvalidInput, match="surrogate"):
        BM25.document("\ud800", "en")
    with pytest.raises(InvalidInput, match="surrogate"):
        BM25.query("\ud800", ["en"])


@given(st.text(max_size=300), st.sampled_from(["en", "de", "zh", "ta", "xx", ""]))
def test_terms_are_distinct_and_every_document_answers_to_its_own_text(text: str, language: str) -> None:
    document, query = BM25.document(text, language), BM25.query(text, [language])
    assert len(document.indices) == len(set(document.indices)) == len(document.values)
    assert len(query.indices) == len(set(query.indices))
    assert all(value > 0 for value in document.values)
    assert terms(query) <= terms(document)
    assert bool(query.indices) == bool(document.indices)


@given(st.lists(st.text(max_size=20), max_size=20), st.text(max_size=100), st.sampled_from(["en", "de", "th"]))
def test_what_was_encoded_before_changes_nothing(before: list[str], text: str, language: str) -> None:
    fresh = BM25.document(text, language)
    for other in before:
        BM25.document(other, language)
    assert BM25.document(text, language) == fresh
