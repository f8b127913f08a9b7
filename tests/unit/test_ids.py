"""Ids follow from content alone, and their formulas are pinned: a changed one would make all pages be worked again."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.ids import VAULT_ID, chunk_id, content_hash, file_key, normal_path, page_id, slugify

HASH = content_hash("text")
PATHS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=60).map(normal_path)


def test_chunk_ids_are_the_first_128_bits_of_the_documented_hash() -> None:
    digest = hashlib.sha256(b"garden/wiki/Salt.md\x00" + b"2\x00" + HASH.encode()).digest()
    assert chunk_id("garden", "wiki/Salt.md", 2, HASH) == UUID(bytes=digest[:16])


def test_ids_are_the_same_on_every_machine() -> None:
    assert str(chunk_id("garden", "wiki/Salt.md", 0, HASH)) == "8626772b-d494-e041-b36b-e420adf3091c"
    assert str(page_id("garden", "wiki/Salt.md")) == "9e4024cd-c15d-4f01-3f1d-cd59509ae17b"
    assert file_key("wiki/Salt.md") == "ba31256ae8181f5ec5eda0c5b60ccd6b"


@given(PATHS, PATHS, st.integers(0, 10_000), st.integers(0, 10_000))
def test_chunks_that_stand_apart_have_different_ids(one: str, other: str, first: int, second: int) -> None:
    same = (one, first) == (other, second)
    assert (chunk_id("v", one, first, HASH) == chunk_id("v", other, second, HASH)) == same


def test_a_chunk_id_depends_on_vault_path_index_and_words() -> None:
    ids = {
        chunk_id("a", "p.md", 0, HASH),
        chunk_id("b", "p.md", 0, HASH),
        chunk_id("a", "q.md", 0, HASH),
        chunk_id("a", "p.md", 1, HASH),
        chunk_id("a", "p.md", 0, content_hash("other")),
    }
    assert len(ids) == 5


def test_pages_born_at_one_path_one_after_the_other_have_different_ids() -> None:
    assert len({page_id("a", "p.md", attempt) for attempt in range(3)}) == 3


def test_a_page_id_is_no_chunk_id_of_the_same_place() -> None:
    assert page_id("a", "p.md") != chunk_id("a", "p.md", 0, HASH)


@given(PATHS)
def test_both_spellings_of_a_path_have_one_key(path: str) -> None:
    assert file_key(unicodedata.normalize("NFD", path)) == file_key(unicodedata.normalize("NFC", path))


@given(PATHS)
def test_a_file_key_is_one_subject_token_of_32_hex_digits(path: str) -> None:
    assert re.fullmatch(r"[0-9a-f]{32}", file_key(path))


def test_names_that_differ_in_case_are_different_files() -> None:
    assert file_key("Salt.md") != file_key("salt.md")


@given(st.text(st.characters(codec="utf-8")))
def test_text_is_hashed_as_utf_8(text: str) -> None:
    assert content_hash(text) == content_hash(text.encode()) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Ferment vegetables", "ferment-vegetables"),
        ("  A/B: the_test!  ", "a-b-the-test"),
        ("Überprüfung der Säuren", "überprüfung-der-säuren"),
        ("发酵 蔬菜", "发酵-蔬菜"),
        ("***", "page"),
        ("", "page"),
    ],
)
def test_a_title_in_any_language_has_a_slug(text: str, slug: str) -> None:
    assert slugify(text) == slug


@given(st.text(st.characters(codec="utf-8")))
def test_a_slug_is_never_empty_and_slugs_to_itself(text: str) -> None:
    slug = slugify(text)
    assert slug
    assert slugify(slug) == slug


@pytest.mark.parametrize("vault_id", ["a", "team-a", "0", "a" * 63])
def test_a_good_vault_id_is_accepted(vault_id: str) -> None:
    assert VAULT_ID.fullmatch(vault_id)


@pytest.mark.parametrize("vault_id", ["", "A", "a.b", "a b", "*", ">", "ä", "a" * 64, "a\n"])
def test_what_could_break_a_subject_is_no_vault_id(vault_id: str) -> None:
    assert not VAULT_ID.fullmatch(vault_id)
