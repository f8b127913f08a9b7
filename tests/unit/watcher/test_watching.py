"""A running watcher on real files and the kernel's own events."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from services.ingest.watcher.options import WatchOptions
from services.ingest.watcher.pending import Pending
from services.ingest.watcher.watcher import Watcher
from services.ingest.watcher.watching import FolderWatch, relative_paths
from tests.fakes.in_memory_file_log import InMemoryFileLog
from tests.unit.watcher.vault import QUICK, Vault

SILENT = replace(QUICK, watch=WatchOptions(quiet_ms=6_000))
"""The kernel's first word would come after 3 seconds."""


def has(path: str, text: str) -> Callable[[InMemoryFileLog], bool]:
    """Return the question whether a file's newest message says `text`."""
    return lambda log: path in log.files() and log.files()[path].content == text.encode()


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


async def test_a_name_that_is_not_utf_8_does_not_stop_the_watching(vault: Vault):
    async with vault.watched():
        (vault.root / os.fsdecode(b"\xff.md")).write_text("A")
        await vault.log.until(lambda log: "\\xff.md" in log.files())
        await write_until(vault, "b.md")


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


async def test_a_new_folder_is_looked_at_twice(tmp_path: Path):
    pending = Pending()
    watch = asyncio.create_task(FolderWatch(str(tmp_path), pending, WatchOptions(second_look_s=0.3)).run())
    assert await pending.wait(10)
    assert pending.take().everything
    (tmp_path / "folder").mkdir()
    for _ in range(2):
        assert await pending.wait(10)
        assert pending.take().paths == {"folder"}
    assert not await pending.wait(0.5)
    watch.cancel()
    await asyncio.wait((watch,))


async def test_cancelling_leaves_no_task_behind(vault: Vault):
    before = asyncio.all_tasks()
    async with vault.watched():
        pass
    assert asyncio.all_tasks() == before


def test_events_below_hidden_folders_are_left_out():
    events = ["/v/a.md", "/v/.git/index", "/v/b/.x.swp", "/v/b/c.d/e.md", "/v/.citebus.toml", "/v"]
    assert relative_paths("/v", events) == {"a.md", "b/c.d/e.md", ".citebus.toml", ""}


async def test_pending_is_bounded_and_merges():
    pending = Pending(most_paths=3)
    assert not await pending.wait(0.001)
    pending.touch(["a", "b"])
    pending.touch(["b"])
    assert pending.take().paths == {"a", "b"}
    assert not pending.take()
    pending.touch(["a", "b", "c", "d"])
    pending.touch(["e"])
    assert not pending.take_paths()
    taken = pending.take()
    assert taken.everything
    assert not taken.paths


async def wait_until(is_so: Callable[[], bool], timeout_s: float = 20.0) -> None:
    """Wait for a state that tells nobody when it changes."""
    async with asyncio.timeout(timeout_s):
        while not is_so():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def write_until(vault: Vault, path: str) -> None:
    """Write a file anew until an event of it arrives."""
    for number in range(200):
        vault.write(path, f"written {number}")
        try:
            await vault.log.until(has(path, f"written {number}"), timeout_s=0.2)
        except TimeoutError:
            continue
        return
    raise AssertionError(f"{path} is not watched")


@asynccontextmanager
async def running(watcher: Watcher) -> AsyncGenerator[None]:
    """Run a watcher for the length of a block."""
    task = asyncio.create_task(watcher.run())
    yield
    task.cancel()
    await asyncio.wait((task,))
    assert task.cancelled()
