"""What a folder holds, without opening a file."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

from services.ingest.watcher.scan import FolderScanner
from services.ingest.watcher.selection import Selection
from shared.contracts.files import VaultSettings
from tests.unit.watcher.vault import as_nobody


def scanner(root: Path, *, folds_names: bool = False) -> FolderScanner:
    return FolderScanner(os.path.realpath(root), Selection(VaultSettings(vault_id="v")), folds_names=folds_names)


def fill(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)


def test_an_entry_says_what_stat_says(tmp_path: Path):
    fill(tmp_path, "folder/a.md")
    status = (tmp_path / "folder/a.md").stat()
    (entry,) = scanner(tmp_path).scan().entries.values()
    assert entry == ("folder/a.md", "folder/a.md", status.st_size, status.st_mtime_ns, status.st_ino, None)


def test_paths_are_composed_and_disk_paths_as_they_are(tmp_path: Path):
    decomposed = unicodedata.normalize("NFD", "dossier é/été.md")
    fill(tmp_path, decomposed)
    (entry,) = scanner(tmp_path).scan().entries.values()
    assert (entry.path, entry.disk_path) == ("dossier é/été.md", decomposed)


def test_the_winner_of_two_spellings_does_not_depend_on_the_order(tmp_path: Path):
    one, other = "e\u0323\u0302.md", "e\u0302\u0323.md"  # two spellings, neither composed
    fill(tmp_path, one, other)
    found = scanner(tmp_path)
    winners = {found.look(order).entries["ệ.md"].disk_path for order in ((one, other), (other, one))}
    assert winners == {min(one, other)}


def test_what_is_skipped_is_counted(tmp_path: Path):
    fill(tmp_path, "a.md", "a.txt", ".git/config", "b/c.png")
    assert scanner(tmp_path).scan().skipped == 3


def test_a_subtree_is_scanned_alone(tmp_path: Path):
    fill(tmp_path, "a.md", "folder/b.md", "folder/deep/c.md")
    assert scanner(tmp_path).scan("folder").entries.keys() == {"folder/b.md", "folder/deep/c.md"}
    assert scanner(tmp_path).scan("missing").entries == {}


def test_looking_at_paths_finds_files_folders_and_nothing(tmp_path: Path):
    fill(tmp_path, "a.md", "folder/b.md", "folder/deep/c.md", "d.md", ".trash/e.md")
    found = scanner(tmp_path).look(["a.md", "folder", "missing.md", "a.md/below", ".trash/e.md", ".trash"])
    assert found.entries.keys() == {"a.md", "folder/b.md", "folder/deep/c.md"}


def test_a_folder_that_can_t_be_listed_or_entered_is_blind():
    with as_nobody() as base:
        fill(base, "closed/a.md", "listed/b.md", "open/c.md")
        (base / "closed").chmod(0)
        (base / "listed").chmod(0o400)
        found = scanner(base).scan()
        looked = scanner(base).look(["closed/a.md"])
        (base / "closed").chmod(0o700)
        (base / "listed").chmod(0o700)
    assert found.entries.keys() == {"open/c.md"}
    assert sorted(found.blind) == ["closed", "listed/b.md"]
    assert looked.blind == ["closed/a.md"]


def test_links_within_the_vault_say_where_they_lead(tmp_path: Path):
    fill(tmp_path, "vault/a.md", "outside.md", "vault-too/b.md")
    vault = tmp_path / "vault"
    (vault / "in.md").symlink_to("a.md")
    (vault / "absolute.md").symlink_to(vault / "a.md")
    (vault / "out.md").symlink_to("../outside.md")
    (vault / "neighbour.md").symlink_to("../vault-too/b.md")
    (vault / "folder").symlink_to(vault)
    found = scanner(vault).scan()
    assert found.entries.keys() == {"a.md", "in.md", "absolute.md"}
    assert found.links == {"in.md": "a.md", "absolute.md": "a.md"}


def test_where_names_are_folded_only_the_exact_spelling_is_there(tmp_path: Path):
    fill(tmp_path, "Folder/Note.md")
    found = scanner(tmp_path, folds_names=True)
    assert found.look(["Folder/Note.md"]).entries.keys() == {"Folder/Note.md"}
    # What a folding file system answers to a stat of another spelling: the file is there.
    os.link(tmp_path / "Folder/Note.md", tmp_path / "note.md")
    assert found.look(["note.md", "Folder"]).entries.keys() == {"note.md", "Folder/Note.md"}
