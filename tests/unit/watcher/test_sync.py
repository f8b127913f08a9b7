"""One sweep: what is published of a folder, what is not, and what a fault may not do to it."""

from __future__ import annotations

import asyncio
import os
import shutil
import unicodedata
from dataclasses import replace

import pytest

from shared.contracts.files import FileChanged
from shared.errors import Unavailable
from shared.ids import content_hash
from tests.unit.watcher.vault import QUICK, Vault, as_nobody


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
