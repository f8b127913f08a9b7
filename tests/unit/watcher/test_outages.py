"""A running watcher whose log, folder or kernel lets it down."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

from tests.unit.watcher.vault import Vault
from tests.unit.watcher.waiting import SILENT, has, running, wait_until, write_until


async def test_what_changes_while_the_log_is_down_is_published_in_its_newest_state(vault: Vault):
    vault.write("a.md", "A")
    async with vault.watched() as watcher:
        vault.log.down = True
        for text in ("lost", "newest"):
            vault.write("a.md", text)
            await wait_until(lambda: watcher.problem is not None)
        vault.write("b.md", "B")
        vault.log.down = False
        await vault.log.until(has("a.md", "newest"))
        await vault.log.until(has("b.md", "B"))
        await wait_until(lambda: watcher.problem is None)


async def test_a_log_made_anew_gets_everything_again_while_the_watcher_runs(vault: Vault):
    vault.write("a.md", "A")
    async with vault.watched():
        page = vault.pages()["a.md"]
        vault.log.wipe()
        await vault.log.until(has("a.md", "A"))
        assert vault.pages() == {"a.md": page}


async def test_a_vault_that_goes_away_and_comes_back_loses_nothing(vault: Vault):
    vault.write("a.md", "A")
    async with vault.watched() as watcher:
        vault.root.rename(vault.base / "away")
        await wait_until(lambda: watcher.problem is not None)
        (vault.base / "away").rename(vault.root)
        await wait_until(lambda: watcher.problem is None)
        await write_until(vault, "a.md")
    assert vault.log.tombstones().keys() == {"zz-probe.md"}


async def test_a_vault_that_is_replaced_by_another_folder_is_watched_there(vault: Vault):
    vault.write("a.md", "A")
    copy = vault.base / "copy"
    async with vault.watched():
        page = vault.pages()["a.md"]
        shutil.copytree(vault.root, copy)
        vault.root.rename(vault.base / "away")
        copy.rename(vault.root)
        await write_until(vault, "a.md")
        assert vault.pages() == {"a.md": page}


async def test_a_name_that_is_not_utf_8_does_not_stop_the_watching(vault: Vault):
    async with vault.watched():
        (vault.root / os.fsdecode(b"\xff.md")).write_text("A")
        await vault.log.until(lambda log: "\\xff.md" in log.files())
        await write_until(vault, "b.md")


async def test_a_sweep_finds_what_the_kernel_did_not_tell(vault: Vault):
    vault.options = replace(SILENT, sweep_every_s=0.3)
    with vault.watcher() as watcher:
        vault.write("a.md", "A")
        await watcher.sync()
        async with running(watcher):
            vault.write("quiet/b.md", "B")
            await vault.log.until(has("quiet/b.md", "B"))


async def test_a_file_that_went_while_others_were_published_is_looked_at_again(vault: Vault):
    vault.options = SILENT
    files = {vault.write(f"{number}.md", "One more than a slice holds.").name for number in range(65)}

    def remove_the_last() -> None:
        for name in files - vault.log.files().keys():
            (vault.root / name).unlink()

    with vault.watcher() as watcher:
        vault.log.on_publish = remove_the_last
        assert (await watcher.sync()).published == 64
        (last,) = files - vault.log.files().keys()
        vault.write(last, "back")
        async with running(watcher):
            await vault.log.until(has(last, "back"), timeout_s=2.5)  # before the kernel says anything
