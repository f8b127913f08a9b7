import json
from dataclasses import replace
from uuid import UUID

import pytest

from services.ingest.text.preparation import payload_hash, point_hash, point_payload
from shared.contracts.files import VaultSettings
from shared.errors import InvalidInput
from shared.vectors.store import KEYWORD_FIELDS
from tests.unit.text.pages import VAULT, prepare

PAGE_ID = UUID(int=7)


def test_a_page_says_what_its_front_matter_says() -> None:
    page = prepare(
        "---\ntitle: The  Title\ntype: concept\nlang: de-AT\nsources: [raw/a.md, '[[raw/b]]']\ncreated: 2026-05-31\n"
        "tags: x y\n---\n# Heading\n\ntext\n",
        "wiki/concepts/File Name.md",
    )
    assert (page.title, page.slug, page.stem) == ("The Title", "the-title", "file name")
    assert (page.kind, page.language, page.page_type) == ("wiki", "de", "concept")
    assert page.sources == ("raw/a.md", "raw/b")
    assert page.front_matter["created"] == "2026-05-31"
    assert page.fields["tags"] == ["x", "y"]
    assert page.problems == ()


@pytest.mark.parametrize(
    ("text", "path", "title", "slug", "kind"),
    [
        ("---\ntitle: 1984\n---\n# H", "a/b.md", "1984", "1984", "a"),
        ("---\ntitle: 2024-01-05\n---\nx", "b.md", "2024-01-05", "2024-01-05", "page"),
        ("## Not it\n\n# The *first* `one`\n\n# Another", "a/b.md", "The first one", "b", "a"),
        ("no heading", "a/b/My Page.markdown", "My Page", "my-page", "a"),
        ("x", ".md", ".md", "md", "page"),
        ("x", "a/.md", ".md", "md", "a"),
        ("x", "*>?#.md", "*>?#", "page", "page"),
        ("x", " edge .md", " edge ", "edge", "page"),
        ("x", "🎉.md", "🎉", "page", "page"),
        ("x", "A\u0308.md", "Ä", "ä", "page"),
        ("---\ntitle: [no, text]\n---\nx", "b.md", "b", "b", "page"),
        ("", "empty.md", "empty", "empty", "page"),
    ],
)
def test_a_title_is_never_empty(text: str, path: str, title: str, slug: str, kind: str) -> None:
    page = prepare(text, path)
    assert (page.title, page.slug, page.kind) == (title, slug, kind)


@pytest.mark.parametrize("path", ["\u200b.md", " .md"])
def test_even_a_name_of_blanks_gives_a_title_and_a_slug(path: str) -> None:
    page = prepare("x", path)
    assert page.title
    assert page.slug == "page"


def test_the_language_is_what_the_page_says_else_shows_else_the_vaults_else_english() -> None:
    german = VaultSettings(vault_id="test", language="de")
    english = "Whoever reads this page will notice that it is written in plain English.\n"
    assert prepare(f"---\nlang: fr\n---\n{english}", settings=german).language == "fr"
    assert prepare(english, settings=german).language == "en"
    assert prepare("x", settings=german).language == "de"
    assert prepare("x", settings=VAULT).language == "en"


def test_broken_yaml_is_a_problem_and_the_body_is_indexed() -> None:
    page = prepare("---\ntitle: a: b\n---\n# Body\n\ntext [[Link]]\n")
    assert "not valid YAML, line 1" in page.problems[0]
    assert [chunk.text for chunk in page.chunks] == ["# Body\n\ntext [[Link]]"]
    assert [link.target for link in page.links] == ["Link"]


@pytest.mark.parametrize("content", [b"a\0b", b"\xff\xd8\xff\xe0\0\x10JFIF", bytes(range(1, 256)) * 20])
def test_binary_data_is_no_page(content: bytes) -> None:
    with pytest.raises(InvalidInput, match="not text"):
        prepare(content)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_marks_and_line_ends_do_not_hide_front_matter_or_structure(encoding: str, line_end: str) -> None:
    text = "---\ntitle: Ü\n---\n# A\n\n```\n[[no]]\n```\n\n[[Yes]]\n".replace("\n", line_end)
    page = prepare(text.encode(encoding))
    assert page.title == "Ü"
    assert [link.target for link in page.links] == ["Yes"]
    assert page.chunks[0].char_start == text.index("# A")
    assert page.chunks[0].line_start == 4


@pytest.mark.parametrize(
    "text",
    [
        "\n\n".join(f"## Part {n}\n\n" + "Some words in a sentence. " * 12 for n in range(4_000)),
        "\n".join("A line of a page without any heading at all." for _ in range(31_000)),
        "# Same\n" * 20_000,
        "[[" * 50_000,
        ">" * 5_000 + " deep",
        "| a " * 20_000,
    ],
    ids=["sections", "lines", "headings", "brackets", "quotes", "bars"],
)
def test_a_large_page_is_prepared_whole(text: str) -> None:
    chunks = prepare(text).chunks
    assert sum(len(chunk.text) for chunk in chunks) >= len(text.strip()) * 0.9


def test_a_payload_has_every_field_that_a_filter_may_name() -> None:
    page = prepare("---\ntags: [a]\nlast_verified: 2026-05-31\n---\ntext", "wiki/a/b.md")
    payload = point_payload(page, "vault", PAGE_ID, "wiki/a/b.md")
    assert set(payload) == {*KEYWORD_FIELDS, "last_verified_date"}
    assert payload["path_prefixes"] == ["wiki/", "wiki/a/", "wiki/a/b.md"]
    assert payload["page_id"] == str(PAGE_ID)
    assert payload["last_verified"] == "2026-05-31"
    assert payload["area"] is None
    json.dumps(payload)


def test_a_page_at_the_root_has_its_path_as_only_prefix() -> None:
    page = prepare("text", "b.md")
    assert point_payload(page, "vault", PAGE_ID, "b.md")["path_prefixes"] == ["b.md"]


def test_a_point_is_the_same_until_its_payload_or_lexical_text_changes() -> None:
    page = prepare("text", "a/b.md")
    payload = point_payload(page, "vault", PAGE_ID, "a/b.md")
    moved = point_payload(page, "vault", PAGE_ID, "c/b.md")
    lexical = page.chunks[0].lexical_text
    same = point_hash(payload_hash(dict(reversed(payload.items())), "en"), lexical)
    assert point_hash(payload_hash(payload, "en"), lexical) == same
    others = [
        point_hash(payload_hash(moved, "en"), lexical),
        point_hash(payload_hash(payload, "en"), "x"),
        point_hash(payload_hash(payload, "de"), lexical),
    ]
    assert len({same, *others}) == 4


def test_a_rename_changes_the_lexical_text_but_embeds_nothing() -> None:
    before, after = prepare("# A\n\ntext", "a/old.md").chunks[0], prepare("# A\n\ntext", "a/new.md").chunks[0]
    assert before.text_hash == after.text_hash
    assert replace(before, lexical_text="") == replace(after, lexical_text="")
    assert before.lexical_text != after.lexical_text
