"""One sweep: what is published of a folder, and what is not."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace

from shared.ids import content_hash
from tests.unit.watcher.vault import QUICK, Vault


async def test_every_page_is_published_once(vault: Vault):
    vault.write("a.md", "A")
    vault.write("folder/b.markdown", "B")
    vault.write("image.png", "no page")
    assert sorted(await vault.sync()) == ["present a.md", "present folder/b.markdown"]
    assert await vault.sync() == []
    change = vault.log.files()["folder/b.markdown"]
    assert (change.vault_id, change.content, change.content_hash) == ("notes", b"B", content_hash(b"B"))
    assert change.size_bytes == 1
    assert change.mtime_ns == (vault.root / "folder/b.markdown").stat().st_mtime_ns


async def test_the_reply_counts(vault: Vault):
    vault.write("a.md", "A")
    vault.write("b.md", "B")
    vault.write("c.md", "C" * 2000)
    vault.write("note.txt", "")
    vault.options = replace(QUICK, max_bytes=1000)
    with vault.watcher() as watcher:
        reply = await watcher.sync()
        assert (reply.files, reply.published, reply.unreadable, reply.skipped) == (3, 3, 1, 1)
        vault.move("a.md", "d.md")
        (vault.root / "b.md").unlink()
        reply = await watcher.sync()
    assert (reply.files, reply.published, reply.moved, reply.removed) == (2, 3, 1, 1)
    assert reply.last_sequence == 6


async def test_an_unchanged_file_is_not_read_again(vault: Vault):
    file = vault.write("a.md", "A")
    vault.settle()
    await vault.sync()
    status = file.stat()
    with file.open("r+b") as handle:  # same size, inode and times
        handle.write(b"B")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert await vault.sync() == []
    assert await vault.sync(full=True) == ["present a.md"]
    assert vault.texts() == {"a.md": "B"}


async def test_a_file_written_again_within_the_clock_s_tick_is_seen(vault: Vault):
    file = vault.write("a.md", "A")
    status = file.stat()
    vault.now_ns = status.st_mtime_ns
    await vault.sync()
    with file.open("r+b") as handle:
        handle.write(b"B")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert await vault.sync() == ["present a.md"]


async def test_an_older_time_is_a_change_too(vault: Vault):
    file = vault.write("a.md", "new")
    vault.settle()
    await vault.sync()
    file.write_text("old")
    os.utime(file, (1_600_000_000, 1_600_000_000))
    assert await vault.sync() == ["present a.md"]


async def test_a_touched_file_is_not_published_again(vault: Vault):
    file = vault.write("a.md", "A")
    await vault.sync()
    os.utime(file, (1_600_000_000, 1_600_000_000))
    assert await vault.sync() == []


async def test_a_removed_file_leaves_a_tombstone(vault: Vault):
    vault.write("a.md", "A")
    vault.write("b.md", "B")
    await vault.sync()
    page = vault.pages()["a.md"]
    (vault.root / "a.md").unlink()
    assert await vault.sync() == ["removed a.md"]
    tombstone = vault.log.tombstones()["a.md"]
    assert (tombstone.page_id, tombstone.moved_to, tombstone.content) == (page, None, None)
    assert await vault.sync() == []


async def test_an_exclusion_removes_what_it_covers(vault: Vault):
    vault.write("a.md", "A")
    vault.write("drafts/b.md", "B")
    await vault.sync()
    vault.write(".citebus.toml", 'exclude = ["drafts/"]')
    assert await vault.sync() == ["removed drafts/b.md"]
    vault.write(".citebus.toml", "")
    assert await vault.sync() == ["present drafts/b.md"]


async def test_the_settings_are_kept_for_other_services(vault: Vault):
    vault.write(".citebus.toml", 'id = "team"\nlanguage = "de"')
    await vault.sync()
    assert vault.store.settings["team"].language == "de"


async def test_a_file_beyond_the_limit_is_unreadable_and_says_why(vault: Vault):
    vault.write("a.md", "A" * 1001)
    vault.options = replace(QUICK, max_bytes=1000)
    assert await vault.sync() == ["unreadable a.md"]
    change = vault.log.files()["a.md"]
    assert change.content is None
    assert change.reason == "too large: 1,001 bytes, at most 1,000 are read"
    assert await vault.sync() == []
    vault.write("a.md", "short")
    assert await vault.sync() == ["present a.md"]


async def test_a_file_larger_than_a_message_is_unreadable(vault: Vault):
    vault.log = type(vault.log)(max_content_bytes=10)
    vault.write("a.md", "A" * 11)
    assert await vault.sync() == ["unreadable a.md"]


async def test_going_back_to_an_earlier_text_is_a_change(vault: Vault):
    for text in ("A", "B", "A", "B"):
        file = vault.write("a.md", text)
        os.utime(file, (1_700_000_000, 1_700_000_000))
        assert await vault.sync(full=True) == ["present a.md"]


async def test_a_large_vault_is_published_in_slices_of_bounded_size(vault: Vault):
    for number in range(10):
        vault.write(f"{number}.md", bytes(3_000_000))
    await vault.sync()
    assert [len(batch) for batch in vault.log.batches] == [2] * 5


async def test_pages_are_at_their_new_paths_before_the_old_ones_are_given_up(vault: Vault):
    for number in range(100):
        vault.write(f"old/{number}.md", f"text of {number}")
    await vault.sync()
    vault.log.batches.clear()
    vault.move("old", "new")
    await vault.sync()
    for batch in vault.log.batches:
        kinds = [change.change for change in batch]
        assert kinds == sorted(kinds)  # present before removed
        arrived = {change.path for change in batch if change.change == "present"}
        assert {change.moved_to for change in batch if change.change == "removed"} == arrived


async def test_an_edit_does_not_wait_for_a_bulk_load(vault: Vault):
    vault.write("a.md", "before")
    await vault.sync()
    for number in range(1000):
        vault.write(f"{number}.md", f"{number}")
    with vault.watcher() as watcher:
        loading = asyncio.create_task(watcher.sync())
        await vault.log.until(lambda log: len(log.files()) > 1)
        vault.write("a.md", "after")
        watcher.touch(["a.md"])
        await vault.log.until(lambda log: log.files()["a.md"].content == b"after")
        assert len(vault.log.files()) < 500
        assert (await loading).published == 1000
