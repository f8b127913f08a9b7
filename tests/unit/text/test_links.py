import pytest

from services.ingest.page import Link
from services.ingest.text.links import MAX_LINKS
from tests.unit.text.pages import prepare


def links(text: str) -> tuple[Link, ...]:
    return prepare(text, "wiki/Own Page.md").links


@pytest.mark.parametrize(
    ("written", "kind", "target", "stem", "fragment"),
    [
        ("[[Page]]", "wikilink", "Page", "page", None),
        ("[[Page|alias]]", "wikilink", "Page", "page", None),
        ("[[Page#heading]]", "wikilink", "Page", "page", "heading"),
        ("[[Page#^block|x]]", "wikilink", "Page", "page", "^block"),
        ("[[folder/Page]]", "wikilink", "folder/Page", "page", None),
        ("[[folder/Page.md]]", "wikilink", "folder/Page.md", "page", None),
        ("[[v1.2]]", "wikilink", "v1.2", "v1.2", None),
        ("[[#heading]]", "wikilink", "", "own page", "heading"),
        ("![[Page#part]]", "embed", "Page", "page", "part"),
        ("[t](other.md)", "markdown", "other.md", "other", None),
        ("[t](../a%20b.md#x%20y)", "markdown", "../a b.md", "a b", "x y"),
        ("[t](<a b.md>)", "markdown", "a b.md", "a b", None),
        ("[t](/root/x)", "markdown", "/root/x", "x", None),
        ("[t](a.md?view=1#x)", "markdown", "a.md", "a", "x"),
        ("[t](#own)", "markdown", "", "own page", "own"),
        ("[t](%C3%84.md)", "markdown", "Ä.md", "ä", None),
        ("[[A\u0308]]", "wikilink", "A\u0308", "ä", None),
        ("[t][r]\n\n[r]: ../r.md", "markdown", "../r.md", "r", None),
    ],
)
def test_links_are_read_as_written(written: str, kind: str, target: str, stem: str, fragment: str | None) -> None:
    text = f"Übung {written}\n"
    assert links(text) == (Link(target, stem, fragment, kind, 6),)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "text",
    [
        "`[[Page]]`",
        "```\n[[Page]]\n```",
        "    [[Page]]",
        "$[[Page]]$",
        "<!-- [[Page]] -->",
        "[t](https://example.org/a.md)",
        "<https://example.org>",
        "[t](mailto:a@example.org)",
        "[t](//example.org/x)",
        "[[https://example.org]]",
        "[t]()",
        "![[image.png]]",
        "![i](image.JPG)",
        "[t](data.json)",
        "[[" + "x" * 2_000 + "]]",
    ],
)
def test_code_the_web_and_attachments_are_no_links_to_pages(text: str) -> None:
    assert links(text + "\n") == ()


def test_a_wikilink_in_a_table_may_escape_its_bar() -> None:
    assert links("| a |\n|---|\n| [[Page\\|alias]] |\n")[0].target == "Page"


def test_wikilinks_in_front_matter_count() -> None:
    text = '---\nrelated: ["[[Page|x]]"]\n---\n[[Other]]\n'
    found = links(text)
    assert [link.target for link in found] == ["Page", "Other"]
    assert text[found[0].char_start :].startswith("[[Page|x]]")


def test_links_are_bounded() -> None:
    assert len(links("[[a]] " * (MAX_LINKS + 5))) == MAX_LINKS
