import unicodedata
from uuid import UUID, uuid5

import pytest

from services.ingest.page import Link, LinkKind
from services.ingest.text.link_resolution import resolve
from services.ingest.text.names import page_stem

VAULT = [
    "index.md",
    "a/Page.md",
    "b/Page.md",
    "b/c/Deep.md",
    "b/Deep.md",
    "x/y/Only.md",
    "x/Ö.md",
    "notes.md",
    "x/notes.md",
]
NAMESPACE = UUID(int=0)


def outcome(target: str, kind: LinkKind, from_path: str) -> str:
    """Return the path that the link means, or its state."""
    stem = page_stem(target.rstrip("/")) if target else page_stem(from_path)
    candidates = [(uuid5(NAMESPACE, path), path) for path in VAULT if page_stem(path) == stem]
    state, page = resolve(Link(target, stem, None, kind, 0), from_path, candidates)
    assert (page is None) == (state != "resolved")
    return next((path for path in VAULT if uuid5(NAMESPACE, path) == page), state)


@pytest.mark.parametrize(
    ("target", "means"),
    [
        ("Only", "x/y/Only.md"),
        ("only.md", "x/y/Only.md"),
        ("y/Only", "x/y/Only.md"),
        ("x/y/Only", "x/y/Only.md"),
        ("z/Only", "dead"),
        ("Page", "ambiguous"),
        ("a/Page", "a/Page.md"),
        ("Deep", "b/Deep.md"),
        ("c/Deep", "b/c/Deep.md"),
        ("notes", "notes.md"),
        ("Nowhere", "dead"),
        ("/a/Page", "a/Page.md"),
        ("/Page", "dead"),
        ("../a/Page", "a/Page.md"),
        ("./Deep", "b/Deep.md"),
        ("ö", "x/Ö.md"),
        (unicodedata.normalize("NFD", "Ö"), "x/Ö.md"),
        ("", "b/Page.md"),
    ],
)
@pytest.mark.parametrize("kind", ["wikilink", "embed"])
def test_a_wikilink_means_the_exact_path_else_the_page_nearest_the_root(
    target: str, kind: LinkKind, means: str
) -> None:
    assert outcome(target, kind, "b/Page.md") == means


@pytest.mark.parametrize(
    ("target", "means"),
    [
        ("Page.md", "b/Page.md"),
        ("Deep", "b/Deep.md"),
        ("c/Deep.md", "b/c/Deep.md"),
        ("../a/Page.md", "a/Page.md"),
        ("../index.md", "index.md"),
        ("../../index.md", "dead"),
        ("./../x/./y/Only", "x/y/Only.md"),
        ("/x/y/Only.md", "x/y/Only.md"),
        ("Only.md", "dead"),
        ("notes.md", "dead"),
        ("", "b/Page.md"),
    ],
)
def test_a_markdown_link_goes_from_the_pages_folder(target: str, means: str) -> None:
    assert outcome(target, "markdown", "b/Page.md") == means


def test_a_markdown_link_at_the_root_stays_at_the_root() -> None:
    assert outcome("a/Page.md", "markdown", "index.md") == "a/Page.md"
    assert outcome("index.md", "markdown", "notes.md") == "index.md"


def test_pages_that_differ_in_letter_case_alone_are_ambiguous() -> None:
    candidates = [(UUID(int=1), "Page.md"), (UUID(int=2), "page.md")]
    assert resolve(Link("Page", "page", None, "wikilink", 0), "x.md", candidates) == ("ambiguous", None)


def test_a_link_to_its_own_page_is_never_dead() -> None:
    assert resolve(Link("", "x", "part", "wikilink", 0), "x.md", []) == ("resolved", None)
