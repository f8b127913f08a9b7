"""A running watcher on real files and the kernel's own events."""

from __future__ import annotations

import asyncio
import shutil

from tests.unit.watcher.vault import Vault
from tests.unit.watcher.waiting import has, wait_until


async def test_a_saved_file_is_published(vault: Vault):
    async with vault.watched():
        vault.write("a.md", "A")
        await vault.log.until(has("a.md", "A"))
        vault.write("a.md", "B")
        await vault.log.until(has("a.md", "B"))


async def test_a_removed_and_a_renamed_file_are_published(vault: Vault):
    vault.write("a.md", "A text")
    vault.write("b.md", "B text")
    async with vault.watched():
        page = vault.pages()["b.md"]
        (vault.root / "a.md").unlink()
        await vault.log.until(lambda log: "a.md" in log.tombstones())
        vault.move("b.md", "c.md")
        await vault.log.until(lambda log: "b.md" in log.tombstones())
        assert vault.pages() == {"c.md": page}


async def test_a_folder_that_comes_with_its_files_is_published(vault: Vault):
    for number in range(50):
        file = vault.base / "away" / str(number) / "page.md"
        file.parent.mkdir(parents=True)
        file.write_text(f"{number}")
    async with vault.watched():
        (vault.base / "away").rename(vault.root / "here")
        await vault.log.until(lambda log: len(log.files()) == 50)
        (vault.root / "here").rename(vault.root / "there")
        await vault.log.until(lambda log: all(path.startswith("there/") for path in log.files()))
        assert len(vault.pages()) == 50
        shutil.rmtree(vault.root / "there")
        await vault.log.until(lambda log: not log.files())


async def test_files_in_folders_made_a_moment_ago_are_published(vault: Vault):
    async with vault.watched():
        for number in range(30):
            vault.write(f"{number}/deeper/still/page.md", f"{number}")
        await vault.log.until(lambda log: len(log.files()) == 30)


async def test_a_burst_of_5000_files_is_published_whole(vault: Vault):
    async with vault.watched():
        for number in range(5000):
            vault.write(f"{number % 10}/{number}.md", f"{number}")
        await vault.log.until(lambda log: len(log.files()) == 5000, timeout_s=60)
    assert max(map(len, vault.log.batches)) <= 64


async def test_a_log_that_is_down_at_the_start_is_waited_for(vault: Vault):
    vault.write("a.md", "A")
    vault.log.down = True
    with vault.watcher() as watcher:
        running = asyncio.create_task(watcher.run())
        await wait_until(lambda: watcher.problem is not None)
        vault.log.down = False
        await vault.log.until(has("a.md", "A"))
        running.cancel()
        await asyncio.wait((running,))
    assert running.cancelled()


async def test_changed_settings_take_effect_and_broken_ones_do_not(vault: Vault):
    vault.write("a.md", "A")
    vault.write("drafts/b.md", "B")
    async with vault.watched():
        vault.write(".citebus.toml", 'exclude = ["drafts/"]')
        await vault.log.until(lambda log: "drafts/b.md" in log.tombstones())
        assert vault.store.settings["notes"].exclude == ("drafts/",)
        vault.write(".citebus.toml", "exclude = [")
        vault.write("c.md", "C")
        await vault.log.until(has("c.md", "C"))
        assert vault.log.files().keys() == {"a.md", "c.md"}
        vault.write(".citebus.toml", "")
        await vault.log.until(has("drafts/b.md", "B"))


async def test_a_growing_file_is_published_once_it_stands_still(vault: Vault):
    async with vault.watched():
        with (vault.root / "a.md").open("w") as file:
            for number in range(200):
                file.write(f"line {number}\n")
                file.flush()
                await asyncio.sleep(0)
        await vault.log.until(has("a.md", "".join(f"line {number}\n" for number in range(200))))


async def test_an_edit_of_a_link_s_target_is_published_for_both(vault: Vault):
    vault.write("a.md", "A")
    (vault.root / "b.md").symlink_to("a.md")
    async with vault.watched():
        vault.write("a.md", "changed")
        await vault.log.until(has("b.md", "changed"))


async def test_of_two_spellings_the_other_one_becomes_the_page_when_the_first_goes(vault: Vault):
    vault.write("e\u0301.md", "decomposed")
    vault.write("é.md", "composed")
    async with vault.watched():
        (vault.root / "é.md").unlink()
        await vault.log.until(has("é.md", "decomposed"))
        assert vault.pages().keys() == {"é.md"}


async def test_cancelling_leaves_no_task_behind(vault: Vault):
    before = asyncio.all_tasks()
    async with vault.watched():
        pass
    assert asyncio.all_tasks() == before
