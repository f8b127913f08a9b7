"""Which page a file is, through moves, swaps, copies and saves. Real files, one sweep per step."""

from __future__ import annotations

import os
import shutil
import unicodedata
from pathlib import Path

import pytest

from shared.ids import page_id
from tests.unit.watcher.vault import Vault

TEXT = "A page with a few words that stay when another word is added to it.\n"


async def test_a_moved_file_keeps_its_page_and_says_where_it_came_from(vault: Vault):
    vault.write("a.md", TEXT)
    await vault.sync()
    page = vault.pages()["a.md"]
    vault.move("a.md", "folder/b.md")
    assert await vault.sync() == ["present folder/b.md", "removed a.md"]
    assert vault.pages() == {"folder/b.md": page}
    assert vault.log.files()["folder/b.md"].moved_from == "a.md"
    assert vault.log.tombstones()["a.md"].moved_to == "folder/b.md"


async def test_a_moved_and_edited_file_keeps_its_page(vault: Vault):
    vault.write("a.md", TEXT)
    await vault.sync()
    page = vault.pages()["a.md"]
    vault.move("a.md", "b.md")
    vault.write("b.md", TEXT + "More.\n")
    await vault.sync()
    assert vault.pages() == {"b.md": page}


async def test_a_new_text_in_a_freed_inode_is_a_new_page(vault: Vault):
    file = vault.write("a.md", TEXT)
    inode = file.stat().st_ino
    await vault.sync()
    page = vault.pages()["a.md"]
    # What a file system does when it gives a freed inode to the next new file.
    file.write_text("Quite another thing, in no way alike.")
    vault.move("a.md", "b.md")
    assert (vault.root / "b.md").stat().st_ino == inode
    await vault.sync()
    assert vault.pages().keys() == {"b.md"}
    assert vault.pages()["b.md"] != page
    assert vault.log.tombstones()["a.md"].moved_to is None


async def test_a_file_that_was_copied_and_deleted_keeps_its_page(vault: Vault):
    vault.write("a.md", TEXT)
    vault.write("keep.md", "x")
    await vault.sync()
    page = vault.pages()["a.md"]
    shutil.copy(vault.root / "a.md", vault.root / "b.md")
    (vault.root / "a.md").unlink()
    await vault.sync()
    assert vault.pages()["b.md"] == page


async def test_a_file_that_was_deleted_a_moment_before_it_appears_elsewhere_keeps_its_page(vault: Vault):
    vault.write("a.md", TEXT)
    vault.write("keep.md", "x")
    await vault.sync()
    page = vault.pages()["a.md"]
    (vault.root / "a.md").unlink()
    assert await vault.sync() == ["removed a.md"]
    vault.write("b.md", TEXT)
    assert await vault.sync() == ["present b.md"]
    assert vault.pages()["b.md"] == page
    assert vault.log.files()["b.md"].moved_from == "a.md"


async def test_a_file_that_comes_back_to_its_path_has_its_page_again(vault: Vault):
    vault.write("a.md", TEXT)
    vault.write("keep.md", "x")
    await vault.sync()
    vault.move("a.md", "b.md")
    await vault.sync()
    page = vault.pages()["b.md"]
    (vault.root / "b.md").unlink()
    await vault.sync()
    vault.write("b.md", "another text")
    await vault.sync()
    assert vault.pages()["b.md"] == page


async def test_a_copy_is_a_page_of_its_own(vault: Vault):
    vault.write("a.md", TEXT)
    await vault.sync()
    page = vault.pages()["a.md"]
    shutil.copy(vault.root / "a.md", vault.root / "b.md")
    await vault.sync()
    assert vault.pages() == {"a.md": page, "b.md": page_id("notes", "b.md")}


async def test_a_hard_link_is_a_page_of_its_own(vault: Vault):
    vault.write("a.md", TEXT)
    await vault.sync()
    page = vault.pages()["a.md"]
    os.link(vault.root / "a.md", vault.root / "b.md")
    await vault.sync()
    assert vault.pages() == {"a.md": page, "b.md": page_id("notes", "b.md")}


async def test_swapped_names_swap_the_pages(vault: Vault):
    vault.write("a.md", "This is a, same size.")
    vault.write("b.md", "This is b, same size.")
    await vault.sync()
    before = vault.pages()
    vault.move("a.md", "c")
    vault.move("b.md", "a.md")
    vault.move("c", "b.md")
    await vault.sync()
    assert vault.pages() == {"a.md": before["b.md"], "b.md": before["a.md"]}
    assert vault.log.tombstones() == {}


async def test_names_that_rotate_take_their_pages_along(vault: Vault):
    for name in "abc":
        vault.write(f"{name}.md", f"The text of {name}.")
    await vault.sync()
    before = vault.pages()
    vault.move("c.md", "d.md")
    vault.move("b.md", "c.md")
    vault.move("a.md", "b.md")
    await vault.sync()
    assert vault.pages() == {"b.md": before["a.md"], "c.md": before["b.md"], "d.md": before["c.md"]}
    assert vault.log.tombstones()["a.md"].moved_to == "b.md"


async def test_a_new_file_in_a_moved_one_s_place_is_a_new_page(vault: Vault):
    vault.write("a.md", TEXT)
    await vault.sync()
    page = vault.pages()["a.md"]
    vault.move("a.md", "b.md")
    vault.write("a.md", "Something new.")
    await vault.sync()
    assert vault.pages() == {"b.md": page, "a.md": page_id("notes", "a.md", 1)}


async def test_a_file_written_over_another_takes_that_one_s_page(vault: Vault):
    vault.write("draft.md", TEXT)
    vault.write("a.md", "The old text.")
    await vault.sync()
    page = vault.pages()["a.md"]
    vault.move("draft.md", "a.md")
    await vault.sync()
    assert vault.pages() == {"a.md": page}
    assert vault.texts() == {"a.md": TEXT}


@pytest.mark.parametrize(("old", "new"), [("note.md", "Note.md"), ("été.md", unicodedata.normalize("NFD", "été.md"))])
async def test_another_spelling_of_the_name_is_the_same_page(vault: Vault, old: str, new: str):
    vault.write(old, TEXT)
    await vault.sync()
    page = vault.pages()[old]
    vault.move(old, new)
    await vault.sync()
    path = unicodedata.normalize("NFC", new)
    assert vault.pages() == {path: page}
    assert vault.log.files()[path].disk_path == new


async def test_a_moved_folder_moves_all_its_pages_also_identical_ones(vault: Vault):
    for number in range(5):
        vault.write(f"old/{number}/index.md", TEXT)
        vault.write(f"old/{number}/page.md", f"{TEXT}{number}")
    await vault.sync()
    before = vault.pages()
    vault.move("old", "new")
    await vault.sync()
    assert vault.pages() == {path.replace("old/", "new/"): page for path, page in before.items()}


async def test_a_folder_that_was_copied_and_deleted_keeps_its_pages_also_identical_ones(vault: Vault):
    for number in range(3):
        vault.write(f"old/{number}/index.md", TEXT)
    await vault.sync()
    before = vault.pages()
    shutil.copytree(vault.root / "old", vault.root / "new")
    shutil.rmtree(vault.root / "old")
    await vault.sync()
    assert vault.pages() == {path.replace("old/", "new/"): page for path, page in before.items()}


async def test_of_identical_files_the_deleted_one_is_removed(vault: Vault):
    for name in ("a.md", "b.md", "c.md"):
        vault.write(name, TEXT)
    await vault.sync()
    before = vault.pages()
    (vault.root / "b.md").unlink()
    assert await vault.sync() == ["removed b.md"]
    assert vault.pages() == {"a.md": before["a.md"], "c.md": before["c.md"]}


async def test_identical_files_recreated_under_other_names_are_not_guessed(vault: Vault):
    for name in ("a.md", "b.md"):
        vault.write(name, TEXT)
    await vault.sync()
    for name in ("a.md", "b.md"):
        (vault.root / name).rename(vault.base / name)
    for name in ("c.md", "d.md"):
        vault.write(name, TEXT)
    await vault.sync()
    assert vault.pages() == {"c.md": page_id("notes", "c.md"), "d.md": page_id("notes", "d.md")}
    assert all(tombstone.moved_to is None for tombstone in vault.log.tombstones().values())


async def test_an_empty_file_is_not_taken_for_a_removed_empty_one(vault: Vault):
    vault.write("a.md", "")
    vault.write("keep.md", "x")
    await vault.sync()
    (vault.root / "a.md").rename(vault.base / "a.md")
    vault.write("b.md", "")
    await vault.sync()
    assert vault.pages()["b.md"] == page_id("notes", "b.md")


async def test_a_save_by_renaming_a_new_file_over_the_old_one_keeps_the_page(vault: Vault):
    file = vault.write("a.md", TEXT)
    await vault.sync()
    page = vault.pages()["a.md"]
    new = vault.write(".a.md.tmp", TEXT + "Saved.")
    new.replace(file)
    assert await vault.sync() == ["present a.md"]
    assert vault.pages() == {"a.md": page}


async def test_a_moved_vault_is_the_same_vault(vault: Vault, tmp_path: Path):
    vault.write("a.md", TEXT)
    await vault.sync()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    vault.root.rename(elsewhere / "notes")
    vault.root.symlink_to(elsewhere / "notes")
    assert await vault.sync() == []
