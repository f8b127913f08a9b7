"""Which names are pages."""

from __future__ import annotations

import pytest

from services.ingest.watcher.selection import Selection
from shared.contracts.files import VaultSettings
from shared.errors import InvalidInput


def selection(**keys: tuple[str, ...]) -> Selection:
    return Selection(VaultSettings.model_validate({"vault_id": "v", **keys}))


@pytest.mark.parametrize(
    "path", ["a.md", "folder/a.markdown", "été.md", "a b.md", "a.b.md", "x.md/a.md", "~a.md", "#.md"]
)
def test_markdown_is_a_page(path: str):
    assert selection().takes_file(path)


@pytest.mark.parametrize("path", ["a.txt", "a.png", "a", "a.md.txt", "amd", "folder/.md", ".md", "A.MD"])
def test_other_files_are_not(path: str):
    assert not selection().takes_file(path)


@pytest.mark.parametrize(
    "name",
    [
        ".a.md.swp", "4913", "a.md~", "#a.md#", ".#a.md", "a.md.tmp", "a.md.tmp.1234.5678", "a.md.vsctmp", "~$a.md",
        ".syncthing.a.md.tmp", "~syncthing~a.md", "a.md___jb_tmp___", "a.md___jb_old___", ".a.md.icloud", "a.md.part",
        "a.md.bak", "a.md.orig", "a.md.sb-1a2b3c-xyz", ".a.md.kate-swp", ".goutputstream-ABC", "a.MD.SWP",
    ],
)  # fmt: skip
def test_temporary_files_are_no_pages_whatever_the_patterns_say(name: str):
    assert not selection(include=("*",)).takes_file(f"folder/{name}")


def test_excludes_win_over_includes_and_can_be_taken_back():
    chosen = selection(include=("*.md", "*.txt"), exclude=("drafts/", "*.secret.md", "!ok.secret.md"))
    assert chosen.takes_file("a.txt")
    assert not chosen.takes_file("a.secret.md")
    assert chosen.takes_file("ok.secret.md")
    assert not chosen.enters("drafts")
    assert not chosen.enters("deep/drafts")


def test_an_anchored_pattern_binds_at_the_root_only():
    chosen = selection(exclude=("/private/",))
    assert not chosen.enters("private")
    assert chosen.enters("team/private")


def test_includes_may_name_folders():
    chosen = selection(include=("wiki/**/*.md", "!wiki/old/*"))
    assert chosen.takes_file("wiki/a.md")
    assert chosen.takes_file("wiki/deep/a.md")
    assert not chosen.takes_file("other/a.md")
    assert not chosen.takes_file("wiki/old/a.md")


@pytest.mark.parametrize("folder", [".git", ".obsidian", ".trash", "deep/.hidden"])
def test_hidden_folders_are_not_entered(folder: str):
    assert not selection().enters(folder)


@pytest.mark.parametrize("folder", ["node_modules", "a.tmp", "4913", "a~", "x.md"])
def test_other_folders_are_entered(folder: str):
    assert selection().enters(folder)


def test_a_path_is_reached_only_through_folders_that_are_entered():
    chosen = selection(exclude=("drafts/",))
    assert chosen.reaches("a.md")
    assert chosen.reaches("one/two/a.md")
    assert not chosen.reaches("one/.git/two/a.md")
    assert not chosen.reaches("drafts/two/a.md")


@pytest.mark.parametrize("key", ["include", "exclude"])
def test_an_invalid_pattern_is_an_error_that_names_its_key(key: str):
    with pytest.raises(InvalidInput, match=f"`{key}`"):
        selection(**{key: ("!",)})
