"""Names that no file should have, links, and what only looks like a page."""

from __future__ import annotations

import os
import unicodedata

from shared.contracts.files import FileChanged
from tests.unit.watcher.vault import Vault


async def test_a_name_that_is_not_utf_8_is_unreadable_and_shown_escaped(vault: Vault):
    (vault.root / os.fsdecode(b"caf\xe9.md")).write_text("A")
    assert await vault.sync() == ["unreadable caf\\xe9.md"]
    change = vault.log.files()["caf\\xe9.md"]
    assert change.disk_path == "caf\\xe9.md"
    assert change.reason == "the file's name is not UTF-8; rename it"
    FileChanged.model_validate_json(change.to_json())
    assert await vault.sync() == []
    (vault.root / os.fsdecode(b"caf\xe9.md")).unlink()
    vault.write("b.md", "B")
    assert await vault.sync() == ["present b.md", "removed caf\\xe9.md"]


async def test_of_two_names_with_one_normal_form_the_composed_one_is_the_page(vault: Vault):
    composed, decomposed = "été.md", unicodedata.normalize("NFD", "été.md")
    vault.write(decomposed, "decomposed")
    vault.write(composed, "composed")
    await vault.sync()
    assert vault.texts()["été.md"] == "composed"
    other = next(change for change in vault.log.files().values() if change.path != "été.md")
    assert other.change == "unreadable"
    assert other.disk_path == decomposed
    assert await vault.sync() == []
    (vault.root / composed).unlink()
    await vault.sync()
    assert vault.texts() == {"été.md": "decomposed"}


async def test_odd_names_are_pages(vault: Vault):
    names = [
        "with space.md",
        " edge.md",
        "edge .md",
        "emoji 🚀.md",
        '*>?#"|.md',
        "x" * 177 + ".md",
        "zero\u200bwidth.md",
    ]
    names += ["line\nbreak.md", "tab\t.md", "back\\slash.md"]
    for name in names:
        vault.write(name, name)
    await vault.sync()
    assert vault.texts() == {name: name for name in names}


async def test_folders_links_and_pipes_are_no_pages(vault: Vault):
    vault.write("x.md/inside.md", "A page in a folder that is called like a page.")
    outside = vault.base / "outside.md"
    outside.write_text("outside")
    (vault.root / "leaves.md").symlink_to(outside)
    (vault.root / "dangling.md").symlink_to("nowhere")
    (vault.root / "loop.md").symlink_to("loop.md")
    (vault.root / "loop").symlink_to(".")
    os.mkfifo(vault.root / "pipe.md")
    vault.write(".md", "hidden")
    assert await vault.sync() == ["present x.md/inside.md"]


async def test_a_link_to_a_file_of_the_vault_is_a_page(vault: Vault):
    vault.write("a.md", "A")
    (vault.root / "b.md").symlink_to("a.md")
    await vault.sync()
    assert vault.texts() == {"a.md": "A", "b.md": "A"}
    vault.write("a.md", "Again")
    await vault.sync()
    assert vault.texts() == {"a.md": "Again", "b.md": "Again"}
