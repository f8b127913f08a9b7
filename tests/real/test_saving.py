"""However a file is saved, renamed or put back, its page keeps its identity and search shows what the disk holds."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.real.outages import eventually, note
from tests.system import System


def saved_by_vim(file: Path, text: str) -> None:
    """Probe the folder, move the old file to a backup, write a new one, drop the backup."""
    probe, backup = file.with_name("4913"), file.with_name(file.name + "~")
    probe.touch()
    probe.unlink()
    swap = file.with_name(f".{file.name}.swp")
    swap.write_bytes(b"b0VIM 9.0\x00")
    file.rename(backup)
    file.write_text(text)
    backup.unlink()
    swap.unlink()


def saved_by_vs_code(file: Path, text: str) -> None:
    """Cut the file to nothing and write it again in two parts."""
    with file.open("w") as opened:
        opened.flush()
        opened.write(text[:10])
        opened.flush()
        opened.write(text[10:])


def saved_atomically(file: Path, text: str) -> None:
    """Write beside it and rename over it."""
    beside = file.with_name(file.name + ".tmp.1234.5678")
    beside.write_text(text)
    beside.replace(file)


def saved_by_a_page_of_its_own(file: Path, text: str) -> None:
    """Rename over it a file that was itself a page for a moment."""
    beside = file.with_name("untitled.md")
    beside.write_text(text)
    beside.replace(file)


def saved_by_deleting_first(file: Path, text: str) -> None:
    """Delete and create, as some synchronisers do."""
    file.unlink()
    file.write_text(text)


async def events(system: System, kind: str) -> int:
    """Return how many events of a kind were published."""
    subject = system.topology.page(system.vault_id, kind)
    info = await system.resources.client.jetstream().stream_info(system.topology.pages, subjects_filter=subject)
    return (info.state.subjects or {}).get(subject, 0)


@pytest.mark.parametrize(
    "save",
    [saved_by_vim, saved_by_vs_code, saved_atomically, saved_by_a_page_of_its_own, saved_by_deleting_first],
)
async def test_a_save_keeps_the_page_and_shows_the_new_text(system: System, save: Callable[[Path, str], None]) -> None:
    file = system.vault / "n1.md"
    await system.write("n1.md", note(1))
    ids = await system.paths()
    for n in range(2, 5):
        save(file, note(n))
        await system.wait("n1.md", until="embedded")
        assert (await system.search(f"m{n}x")).citations[0].path == "n1.md"
    await system.settled()
    assert await system.paths() == ids
    assert await system.points() == {str(row["chunk_id"]) for row in await system.rows("SELECT chunk_id FROM chunks")}
    assert await events(system, "rejected") == 0


async def test_a_file_that_grows_while_it_is_read_ends_whole(system: System) -> None:
    file = system.vault / "log.md"
    with file.open("a") as growing:
        for n in range(300):
            growing.write(f"## Entry {n}\n\nThe entry number e{n}x was written now.\n\n")
            growing.flush()
            await asyncio.sleep(0.002)
    await system.wait("log.md", until="embedded")
    assert await events(system, "rejected") == 0
    (row,) = await system.rows("SELECT max(char_end) AS last FROM chunks")
    assert row["last"] >= len(file.read_text().rstrip())
    assert (await system.search("e299x")).citations[0].path == "log.md"


async def test_a_rename_of_case_only_embeds_nothing_and_keeps_the_page(system: System) -> None:
    await system.write("Note.md", note(1))
    ids, embedded = await system.paths(), system.embedder.document_texts
    (system.vault / "Note.md").rename(system.vault / "note.md")
    await system.wait("note.md", until="embedded")
    await system.settled(lambda status: status.pages == 1)
    assert await system.paths() == {"note.md": ids["Note.md"]}
    assert system.embedder.document_texts == embedded


async def test_a_rename_to_another_unicode_form_changes_nothing_but_the_spelling(system: System) -> None:
    composed, decomposed = system.vault / "\u00c4rger.md", system.vault / "A\u0308rger.md"
    await system.write(composed.name, note(1))
    ids, embedded = await system.paths(), system.embedder.document_texts
    composed.rename(decomposed)

    async def respelled() -> bool:
        return [row["disk_path"] for row in await system.rows("SELECT disk_path FROM pages")] == [decomposed.name]

    await eventually(respelled)
    assert await system.paths() == ids
    assert system.embedder.document_texts == embedded


@pytest.mark.parametrize("mtime_s", [0, 1_000_000_000, 4_000_000_000])
async def test_another_time_never_hides_another_text(system: System, mtime_s: int) -> None:
    file = system.vault / "n1.md"
    await system.write("n1.md", note(1))
    file.write_text(note(2))  # of the same size
    os.utime(file, (mtime_s, mtime_s))
    await system.wait("n1.md")
    file.write_text(note(3))
    os.utime(file, (mtime_s, mtime_s))  # and of the same time
    await system.wait("n1.md")
    assert (await system.search("m3x")).citations[0].path == "n1.md"


async def test_a_restored_older_version_is_live_again_and_embeds_nothing(system: System) -> None:
    file, backup = system.vault / "n1.md", system.vault / "n1.bak"
    await system.write("n1.md", note(1))
    file.rename(backup)
    await system.write("n1.md", note(2))
    ids, embedded = await system.paths(), system.embedder.document_texts
    backup.replace(file)
    await system.wait("n1.md", until="embedded")
    assert (await system.search("m1x")).citations[0].path == "n1.md"
    assert "m2x" not in (await system.search("m2x")).text
    assert await system.paths() == ids
    assert system.embedder.document_texts == embedded


async def test_a_page_is_shown_after_every_one_of_many_quick_saves(system: System) -> None:
    file = system.vault / "n1.md"
    for n in range(50):
        file.write_text(note(n))
        await asyncio.sleep(0.005)
    await system.wait("n1.md", until="embedded")
    assert (await system.search("m49x")).citations[0].path == "n1.md"
    assert len(await system.rows("SELECT 1 FROM chunks")) == 1


@pytest.mark.timeout(240)
async def test_five_thousand_files_in_one_burst_all_arrive_once(system: System) -> None:
    count = 5_000
    for n in range(count):
        folder = system.vault / f"d{n % 50}"
        folder.mkdir(exist_ok=True)
        (folder / f"n{n}.md").write_text(note(n))

    async def done() -> bool:
        status = await system.status()
        return status.pages == status.embedded_chunks == count

    await eventually(done, timeout_s=200, every_s=0.5)
    await system.settled()
    assert system.embedder.document_texts == count
    assert len(await system.points()) == count
    for n in (0, 2_500, count - 1):
        reply = await system.search(f"m{n}x", profile="sparse")
        assert reply.citations[0].path == f"d{n % 50}/n{n}.md"
    (system.vault / "d7").rename(system.vault / "moved")
    await system.settled(lambda status: status.removed == count // 50)
    assert system.embedder.document_texts == count
