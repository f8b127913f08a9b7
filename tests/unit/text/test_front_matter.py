import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ingest.text.front_matter import (
    MAX_CHARS,
    language_of,
    payload_fields,
    read_front_matter,
    tags_of,
    texts_of,
)


def page(yaml: str) -> str:
    return f"---\n{yaml}\n---\nbody\n"


def values(yaml: str) -> object:
    return read_front_matter(page(yaml)).values


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("---\na: 1\n---\nbody", "body"),
        ("---\r\na: 1\r\n---\r\nbody", "body"),
        ("---\na: 1\n...\nbody", "body"),
        ("---  \na: 1\n---\t\nbody", "body"),
        ("---\n---\nbody", "body"),
        ("---\na: 1\n---", ""),
        ("---\n\na: 1\n---\nbody", "---\n\na: 1\n---\nbody"),
        ("\n---\na: 1\n---\n", "\n---\na: 1\n---\n"),
        ("---\nnever closed\n", "---\nnever closed\n"),
        ("---\nprose between rules\n---\nbody", "---\nprose between rules\n---\nbody"),
        ("----\na: 1\n----\n", "----\na: 1\n----\n"),
        ("", ""),
    ],
)
def test_the_body_begins_behind_the_closing_line(text: str, body: str) -> None:
    assert text[read_front_matter(text).end :] == body


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-05-31", "2026-05-31"),
        ("2026-5-1", "2026-05-01"),
        ("2026-05-31 10:00:00", "2026-05-31T10:00:00"),
        ("2026-02-30", "2026-02-30"),
        ("11/04/2016", "11/04/2016"),
        ("12:30", "12:30"),
        ("no", "no"),
        ("true", True),
        ("~", None),
        ("", None),
        ("42", 42),
        ("-1.5", -1.5),
        ("1e999", "1e999"),
        (".nan", ".nan"),
        ("'42'", "42"),
        ('"a\\0b"', "a\ufffdb"),
        ("99999999999999999999", "99999999999999999999"),
        ("[1, [x]]", [1, ["x"]]),
        ("!!python/object/apply:os.system [ls]", ["ls"]),
    ],
)
def test_values_are_json_and_dates_iso(written: str, read: object) -> None:
    assert values(f"a: {written}") == {"a": read}


@pytest.mark.parametrize(("written", "title"), [("2024-01-05", "2024-01-05"), ("1984", "1984"), ("1.10", "1.10")])
def test_a_title_that_is_a_date_or_a_number_stays_as_it_is_written(written: str, title: str) -> None:
    assert read_front_matter(page(f"title: {written}")).title == title


@pytest.mark.parametrize("written", ["", "~", "''", '"  "'])
def test_an_empty_title_is_none(written: str) -> None:
    front_matter = read_front_matter(page(f"title: {written}"))
    assert front_matter.title is None


def test_a_title_that_is_no_text_is_a_problem() -> None:
    front_matter = read_front_matter(page("title: {{name}}"))
    assert front_matter.title is None
    assert "title" in front_matter.problems[0]


@pytest.mark.parametrize("yaml", ["a: b: c", "a: [1", "b: @x", "\ta: 1", 'a: "\\ud800"', "a: \x07", "a: " + "[" * 5000])
def test_broken_yaml_is_a_problem_and_ends_where_it_would(yaml: str) -> None:
    front_matter = read_front_matter(page(yaml))
    assert page(yaml)[front_matter.end :] == "body\n"
    assert front_matter.values == {}
    assert "YAML" in front_matter.problems[0]


def bomb(levels: int) -> str:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "yaml",
    [
        bomb(9),
        "a: &a [*a]",
        "x: &x {k: v}\n" + "\n".join(f"y{n}: &y{n} {{<<: [{', '.join(['*x'] * 50)}]}}" for n in range(900)),
        "a: " + "[" * 200 + "]" * 200,
    ],
)
def test_aliases_and_depth_that_explode_are_stopped(yaml: str) -> None:
    front_matter = read_front_matter(page(yaml))
    assert front_matter.values == {}
    assert "more than" in front_matter.problems[0]


def test_huge_front_matter_is_not_parsed_but_skipped() -> None:
    front_matter = read_front_matter(page("a: b\n" * MAX_CHARS))
    assert front_matter.values == {}
    assert f"{MAX_CHARS:,} characters" in front_matter.problems[0]


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error_into_json(text: str) -> None:
    front_matter = read_front_matter(page(text.replace("\r", "")))
    json.dumps(front_matter.values, allow_nan=False)
    assert 0 <= front_matter.end <= len(page(text))


def test_payload_fields_are_text_lists_of_text_or_none_and_what_ranges_compare() -> None:
    text = page(
        "area: tax\nlevel: 3\nconfidence: 0.9\nsource_type: [a]\nartefacts: [x, 2]\n"
        "tags: '#one, two  three'\nlast_verified: 2026-05-31T10:00:00"
    )
    fields, problems = payload_fields(read_front_matter(text))
    assert fields == {
        "area": "tax",
        "level": "3",
        "confidence": "0.9",
        "source_type": None,
        "period": None,
        "artefacts": ["x", "2"],
        "tags": ["one", "two", "three"],
        "last_verified": "2026-05-31",
        "level_number": 3.0,
        "confidence_number": 0.9,
        "last_verified_date": 1_780_185_600.0,
    }
    assert len(problems) == 1
    assert "source_type" in problems[0]


def test_a_last_verified_that_is_no_date_is_a_problem() -> None:
    fields, problems = payload_fields(read_front_matter(page("last_verified: soon")))
    assert fields["last_verified"] is None
    assert "last_verified" in problems[0]


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        (["a", "#b", "a", 3], ("a", "b", "3")),
        ("a, b", ("a", "b")),
        ("a b", ("a", "b")),
        (None, ()),
        ("", ()),
        (7, ("7",)),
        ([["x"], None], ("x",)),
    ],
)
def test_tags_come_as_a_list_or_as_words(value: object, tags: tuple[str, ...]) -> None:
    assert tags_of(value) == tags


def test_a_source_is_the_same_as_a_wikilink_quoted_or_not() -> None:
    assert texts_of(["[[raw/a|A]]", [["raw/a"]], "raw/a", " "]) == ("raw/a", "raw/a", "raw/a")


@pytest.mark.parametrize(
    ("front_matter", "language"),
    [
        ({"lang": "de"}, "de"),
        ({"language": "pt-BR"}, "pt"),
        ({"lang": "de_AT"}, "de"),
        ({"lang": "german"}, None),
        ({}, None),
    ],
)
def test_a_language_is_its_two_letters(front_matter: dict[str, object], language: str | None) -> None:
    assert language_of(front_matter) == language
