"""Identifiers, numbers and compounds: found whole, by their parts, and in each of their spellings."""

from __future__ import annotations

import pytest

from tests.unit.vectors.words import BM25, meets, terms, touches


@pytest.mark.parametrize(
    "query", ["§ 15", "2024", "UTF-8", "v1.2.3", "3.14", "max_msgs_per_subject", "$SRV.PING", "x86", "0x80004005"]
)
@pytest.mark.parametrize("language", ["en", "de", "zh", "xx"])
def test_numbers_and_names_are_words(query: str, language: str) -> None:
    assert meets(query, f"Look at {query}, then go on.", language)
    assert meets(query, f"检索增强生成 {query} 技术", language)


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("1000", "it costs 1,000 dollars"),
        ("1,000", "it costs 1.000 dollars"),
        ("1.000.000", "1,000,000 rows"),
        ("3,14", "pi is 3.14"),
        ("2.10.3", "since v2.10.3"),
        ("maxpayload", "set `max_payload` first"),
        ("max-payload", "set max_payload first"),
        ("max_payload", "run with --max-payload now"),
        ("maxPayload", "set max_payload first"),
        ("email", "send an e-mail"),
        ("wi-fi", "wifi"),
        ("utf8", "UTF-8"),
        ("nats server", "edit nats-server.conf"),
        ("vector", "a std::vector<int>"),
        ("std::vector", "a std::vector<int>"),
        ("api", "GET js.api/v2"),
        ("string", "utf8ToString"),
        ("utf8", "utf8ToString"),
        ("IPv6", "over IPV6"),
        ("C++", "in modern C++, of course"),
        ("C#", "written in C#."),
        (".NET", "on .NET today"),
        ("operator[]", "call `operator []` of it"),
        ("operator<<", "operator<< prints"),
        ("§15 EStG", "nach §§ 15 EStG"),
        ("AT_T", "AT/T"),
    ],
)
def test_each_spelling_of_a_name_finds_the_others(query: str, document: str) -> None:
    assert touches(query, document, "en")


def test_signs_tell_names_apart() -> None:
    """Both documents have a C; the one with the sign has more of the query."""
    for query, right, wrong in (
        ("C++", "C++", "C"),
        ("C#", "C#", "C++"),
        (".NET", ".NET", "net"),
        ("§ 15", "§15", "15"),
    ):
        asked = terms(BM25.query(query, ["en"]))
        assert len(asked & terms(BM25.document(right, "en"))) > len(asked & terms(BM25.document(wrong, "en")))


def test_a_name_in_camel_case_is_found_whole_and_by_its_words() -> None:
    assert meets("getusername", "call getUserName()", "en")
    assert meets("user name", "call getUserName()", "en")
    assert meets("the max msgs per subject", "MaxMsgsPerSubject", "en")
    assert meets("server", "HTTPServer", "en")
    assert not meets("serv er", "a plain server", "en")


def test_a_german_compound_is_found_by_its_parts_and_finds_them() -> None:
    assert meets("Erklärung zur Steuer", "die Einkommensteuererklärungen", "de")
    assert touches("Einkommensteuererklärung", "eine Erklärung", "de")
    assert touches("Wissensgraph", "Obsidian-Wissensgraphen", "de")
    assert not touches("Steuer", "Einkommensteuererklärung", "en")
