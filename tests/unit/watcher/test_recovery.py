"""What a sweep does when folder, log or manifest are missing, closed, damaged or others than before."""

from __future__ import annotations

import shutil

import pytest

from shared.errors import Unavailable
from tests.unit.watcher.vault import Vault, as_nobody

TEXT = "A page that is nowhere else.\n"


async def test_a_missing_folder_removes_nothing(vault: Vault):
    vault.write("a.md", "A")
    await vault.sync()
    with vault.watcher() as watcher:
        shutil.move(vault.root, vault.base / "away")
        with pytest.raises(Unavailable, match="mounted"):
            await watcher.sync()
        assert vault.pages().keys() == {"a.md"}
        shutil.move(vault.base / "away", vault.root)
        assert (await watcher.sync()).published == 0


async def test_an_empty_folder_that_had_pages_removes_nothing(vault: Vault):
    vault.write("a.md", "A")
    await vault.sync()
    (vault.root / "a.md").rename(vault.base / "a.md")
    with vault.watcher() as watcher, pytest.raises(Unavailable, match="empty"):
        await watcher.sync()
    assert vault.pages().keys() == {"a.md"}


async def test_a_vault_whose_last_page_went_but_not_its_folder_s_content_removes_it(vault: Vault):
    vault.write("a.md", "A")
    vault.write("image.png", "")
    await vault.sync()
    (vault.root / "a.md").unlink()
    assert await vault.sync() == ["removed a.md"]


async def test_a_file_without_permission_is_unreadable_until_it_has_it():
    with as_nobody() as base:
        vault = Vault(base)
        file = vault.write("a.md", "A")
        vault.settle()
        await vault.sync()
        page = vault.pages()["a.md"]
        file.chmod(0)
        vault.write("a.md.new", "B").replace(file)
        file.chmod(0)
        assert await vault.sync() == ["unreadable a.md"]
        assert vault.log.files()["a.md"].reason == "no permission to read the file"
        file.chmod(0o600)  # leaves size, time and inode as they are
        assert await vault.sync() == ["present a.md"]
        assert vault.pages() == {"a.md": page}


async def test_a_folder_without_permission_keeps_its_pages():
    with as_nobody() as base:
        vault = Vault(base)
        vault.write("closed/a.md", "A")
        vault.write("b.md", "B")
        await vault.sync()
        (vault.root / "closed").chmod(0)
        try:
            (vault.root / "b.md").rename(vault.root / "c.md")
            assert await vault.sync() == ["present c.md", "removed b.md"]
        finally:
            (vault.root / "closed").chmod(0o700)
        assert vault.pages().keys() == {"c.md", "closed/a.md"}


async def test_a_vault_without_permission_is_an_error():
    with as_nobody() as base:
        vault = Vault(base)
        vault.write("a.md", "A")
        await vault.sync()
        with vault.watcher() as watcher:
            vault.root.chmod(0)
            try:
                with pytest.raises(Unavailable):
                    await watcher.sync()
            finally:
                vault.root.chmod(0o700)
        assert vault.log.tombstones() == {}


async def test_a_log_made_anew_gets_every_file_and_tombstone_again(vault: Vault):
    for name in ("a.md", "b.md", "c.md"):
        vault.write(name, name)
    await vault.sync()
    (vault.root / "b.md").unlink()
    await vault.sync()
    vault.log.wipe()
    (vault.root / "c.md").unlink()
    assert sorted(await vault.sync()) == ["present a.md", "removed b.md", "removed c.md"]


async def test_a_damaged_manifest_is_rebuilt_from_the_log(vault: Vault):
    vault.write("a.md", "A")
    vault.write("b.md", "B")
    await vault.sync()
    before = vault.pages()
    vault.manifest_file.write_bytes(b"damaged" * 5000)
    (vault.root / "b.md").unlink()
    assert await vault.sync() == ["removed b.md"]
    assert vault.pages() == {"a.md": before["a.md"]}


async def test_a_full_sync_repairs_a_log_that_lost_a_file(vault: Vault):
    vault.write("a.md", "A")
    await vault.sync()
    vault.log._newest.clear()  # pyright: ignore[reportPrivateUsage]
    assert await vault.sync() == []
    assert await vault.sync(full=True) == ["present a.md"]


async def test_what_was_published_before_the_log_went_down_is_not_published_again(vault: Vault):
    for number in range(200):
        vault.write(f"{number:03}.md", "text")
    with vault.watcher() as watcher:
        vault.log.lose_acks = 1
        with pytest.raises(Unavailable):
            await watcher.sync()
        assert (await watcher.sync()).published == 200
    assert len(vault.log.history) == 200  # the batch whose answer was lost is stored once
    assert max(map(len, vault.log.batches)) == 64


async def test_page_ids_survive_a_lost_log(vault: Vault):
    vault.write("a.md", TEXT)
    await vault.sync()
    vault.move("a.md", "b.md")
    await vault.sync()
    before = vault.pages()
    vault.log.wipe()
    await vault.sync()
    assert vault.pages() == before


async def test_page_ids_survive_a_lost_manifest(vault: Vault):
    vault.write("a.md", TEXT)
    await vault.sync()
    vault.move("a.md", "b.md")
    await vault.sync()
    before = vault.pages()
    shutil.rmtree(vault.manifest_file.parent)
    assert await vault.sync() == []
    assert vault.pages() == before


async def test_a_move_while_the_manifest_was_lost_is_still_a_move(vault: Vault):
    vault.write("a.md", TEXT)
    await vault.sync()
    page = vault.pages()["a.md"]
    shutil.rmtree(vault.manifest_file.parent)
    vault.move("a.md", "b.md")
    await vault.sync()
    assert vault.pages() == {"b.md": page}
