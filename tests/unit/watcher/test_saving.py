"""How editors save: whatever they do, a page stays the page that it was."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from tests.unit.watcher.vault import Vault
from tests.unit.watcher.waiting import has


def vim_saves(vault: Vault, text: str) -> None:
    """Write as vim does by default: try 4913, move the old file to a backup, write a new one, drop the backup."""
    (vault.root / "4913").touch()
    (vault.root / "4913").unlink()
    vault.write(".a.md.swp", "swap")
    vault.move("a.md", "a.md~")
    vault.write("a.md", text)
    (vault.root / "a.md~").unlink()
    (vault.root / ".a.md.swp").unlink()


def code_saves(vault: Vault, text: str) -> None:
    """Write as VS Code does: in place, emptied first."""
    with (vault.root / "a.md").open("r+b") as file:
        file.truncate(0)
        file.write(text.encode())


def atomic_save(vault: Vault, text: str) -> None:
    """Write as JetBrains, Obsidian Sync and many libraries do: a new file is renamed over the old one."""
    vault.write("a.md.tmp.1234", text).replace(vault.root / "a.md")


def save_with_a_page_as_temporary_file(vault: Vault, text: str) -> None:
    """Write as a script does that knows nothing of us."""
    vault.write("a.new.md", text).replace(vault.root / "a.md")


def emacs_saves(vault: Vault, text: str) -> None:
    """Write as emacs does, with its lock, its auto-save and its backup."""
    (vault.root / ".#a.md").symlink_to("user@host.123:456")
    vault.write("#a.md#", text)
    shutil.copy(vault.root / "a.md", vault.root / "a.md~")
    vault.write("a.md", text)
    (vault.root / "#a.md#").unlink()
    (vault.root / ".#a.md").unlink()


@pytest.mark.parametrize("save", [vim_saves, code_saves, atomic_save, save_with_a_page_as_temporary_file, emacs_saves])
async def test_an_editor_s_way_to_save_keeps_the_page(vault: Vault, save: Callable[[Vault, str], None]):
    vault.write("a.md", "before")
    async with vault.watched():
        page = vault.pages()["a.md"]
        for text in ("once", "twice"):
            save(vault, text)
            await vault.log.until(has("a.md", text))
            await vault.log.until(lambda log: log.files().keys() == {"a.md"})
        assert vault.pages() == {"a.md": page}
