"""`.citebus.toml`: what it may say, and how a mistake in it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.ingest.watcher.settings_file import SETTINGS_FILE, read_settings, vault_id_of
from shared.contracts.files import SchemaRules, VaultSettings
from shared.errors import InvalidInput

EVERYTHING = """
id = "team-notes"
include = ["*.md", "*.txt"]
exclude = ["drafts/"]
never_cite = ["raw/", "inbox/"]
language = "de"

[schema]
strict = true
required = ["title"]
exempt = ["raw/"]

[schema.allowed]
status = ["draft", "final"]
"""


def settings_of(folder: Path, text: str | bytes) -> VaultSettings:
    (folder / SETTINGS_FILE).write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_settings(folder)


def test_without_a_file_the_defaults_hold(tmp_path: Path):
    folder = tmp_path / "My Notes"
    folder.mkdir()
    assert read_settings(folder) == VaultSettings(vault_id="my-notes")


def test_every_key_is_taken_over(tmp_path: Path):
    assert settings_of(tmp_path, EVERYTHING) == VaultSettings(
        vault_id="team-notes",
        include=("*.md", "*.txt"),
        exclude=("drafts/",),
        never_cite=("raw/", "inbox/"),
        language="de",
        rules=SchemaRules(strict=True, required=("title",), allowed={"status": ("draft", "final")}, exempt=("raw/",)),
    )


def test_a_byte_order_mark_is_allowed(tmp_path: Path):
    assert settings_of(tmp_path, b'\xef\xbb\xbfid = "x"').vault_id == "x"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('id = "x"\nexlude = ["a"]', "line 2: unknown key `exlude`; did you mean `exclude`"),
        ("colour = 1", "line 1: unknown key `colour`; known are id, include, exclude, never_cite, language, schema"),
        ("[schema]\n\nrequire = []", "line 3: unknown key `schema.require`; did you mean `required`"),
        ('id = "Team Notes"', "line 1: `id`: string should match pattern"),
        ('exclude = "drafts/"', "line 1: `exclude`: input should be a valid list"),
        ('include = ["*.md", 7]', "line 1: `include.1`: input should be a valid string"),
        ('language = "german"', "line 1: `language`:"),
        ('[schema]\nallowed.status = "draft"', "line 2: `schema.allowed.status`:"),
        ("id = ", "not TOML:"),
        ("a = 1\nb = \nc = 2", "line 2"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str | bytes, said: str):
    with pytest.raises(InvalidInput) as raised:
        settings_of(tmp_path, text)
    assert said in str(raised.value)
    assert SETTINGS_FILE in str(raised.value)


def test_all_mistakes_are_named_at_once(tmp_path: Path):
    with pytest.raises(InvalidInput, match=r"line 1: .*; line 2: "):
        settings_of(tmp_path, "one = 1\ntwo = 2")


def test_a_file_that_can_t_be_opened_is_an_error(tmp_path: Path):
    (tmp_path / SETTINGS_FILE).mkdir()
    with pytest.raises(InvalidInput, match="can't be read"):
        read_settings(tmp_path)


@pytest.mark.parametrize(
    ("folder", "vault_id"),
    [
        ("Notes", "notes"),
        ("Über uns & mehr", "uber-uns-mehr"),
        ("--x--", "x"),
        ("x" * 100, "x" * 63),
        ("知识库", "vault-975b35f9"),
    ],
)
def test_a_folder_s_name_gives_the_id(folder: str, vault_id: str):
    assert vault_id_of(folder) == vault_id
    assert VaultSettings(vault_id=vault_id).vault_id == vault_id
