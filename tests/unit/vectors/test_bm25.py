"""What counts as the same word, in which language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import InvalidInput
from shared.vectors.bm25 import Bm25Encoder
from shared.vectors.store import SparseVector

BM25 = Bm25Encoder()


def terms(vector: SparseVector) -> set[int]:
    return set(vector.indices)


def meets(query: str, document: str, language: str, *others: str) -> bool:
    """Return whether every word of the query is in the document."""
    asked = terms(BM25.query(query, [language, *others]))
    return bool(asked) and asked <= terms(BM25.document(document, language))


@pytest.mark.parametrize(
    ("query", "document", "language"),
    [
        ("runs", "It was running.", "en"),
        ("steuererklarung", "Die Steuererklärungen sind fertig.", "de"),
        ("Haus", "viele Häuser", "de"),
        ("Strasse", "die Straße", "de"),
        ("developpements", "le développement", "fr"),
        ("HELLO", "hello", "xx"),
    ],
)
def test_inflection_case_and_accents_do_not_matter(query: str, document: str, language: str) -> None:
    assert meets(query, document, language)


@pytest.mark.parametrize(
    "query", ["§ 15", "2024", "UTF-8", "v1.2.3", "3.14", "max_msgs_per_subject", "$SRV.PING", "x86"]
)
@pytest.mark.parametrize("language", ["en", "de", "zh", "xx"])
def test_numbers_and_names_are_words(query: str, language: str) -> None:
    assert meets(query, f"Look at {query}, then go on.", language)
    assert meets(query, f"检索增强生成 {query} 技术", language)


@pytest.mark.parametrize(
    ("query", "document", "language"),
    [
        ("自然语言", "检索增强生成是一种自然语言处理技术", "zh"),
        ("検索", "日本語の検索エンジン", "ja"),
        ("भाषा", "हिन्दी भाषा में", "hi"),
    ],
)
def test_scripts_without_spaces_or_with_vowel_signs_are_cut_into_words(
    query: str, document: str, language: str
) -> None:
    assert terms(BM25.query(query, [language])) & terms(BM25.document(document, language))


def test_a_name_in_camel_case_is_found_whole_and_by_its_words() -> None:
    assert meets("getusername", "call getUserName()", "en")
    assert meets("user name", "call getUserName()", "en")
    assert meets("the max msgs per subject", "MaxMsgsPerSubject", "en")
    assert meets("server", "HTTPServer", "en")
    assert not meets("serv er", "a plain server", "en")


def test_stop_words_are_left_out() -> None:
    assert terms(BM25.document("the of and is a", "en")) == set()
    assert terms(BM25.document("the of and is a", "xx")) != set()


def test_a_query_finds_documents_of_each_language() -> None:
    query = terms(BM25.query("running Häuser", ["en", "de"]))
    assert terms(BM25.document("runs", "en")) <= query
    assert terms(BM25.document("Haus", "de")) <= query


def test_a_query_without_languages_takes_words_as_they_stand() -> None:
    assert terms(BM25.query("running", [])) == terms(BM25.document("running", "xx"))


def test_languages_are_codes_in_any_case() -> None:
    assert terms(BM25.document("Häuser", "DE")) == terms(BM25.document("Häuser", "de"))


def test_a_word_weighs_more_the_more_often_it_stands_there() -> None:
    once, often = BM25.document("alpha beta", "en"), BM25.document("alpha alpha alpha beta", "en")
    weights = dict(zip(often.indices, often.values, strict=True))
    [alpha] = BM25.query("alpha", ["en"]).indices
    [beta] = BM25.query("beta", ["en"]).indices
    assert weights[alpha] > weights[beta]
    assert dict(zip(once.indices, once.values, strict=True))[alpha] < weights[alpha]


def test_each_term_of_a_query_weighs_one() -> None:
    assert set(BM25.query("alpha alpha beta", ["en", "de"]).values) == {1.0}


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
    assert terms(query) == terms(document)
