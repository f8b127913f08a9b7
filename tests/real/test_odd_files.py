"""Whatever lies in a vault is found and cited where it stands, or rejected with a reason; the rest is untouched."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from services.ingest.adapters.nats_file_log import NatsFileLog
from services.ingest.watcher.app import running_watcher
from services.ingest.watcher.options import WatcherOptions
from shared.contracts.search import SearchReply
from shared.topology import Topology
from tests.real.odd_files import FILLER, WHOLE_WINDOW, Odd, encodings, front_matters, names, shapes
from tests.real.rights import without_rights_of_root
from tests.system import Refused, System, running_system

JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(range(256)) * 20


@asynccontextmanager
async def witnesses(system: System) -> AsyncGenerator[None]:
    """Have some plain pages in the vault, which nothing in the block may touch."""
    for n in range(4):
        (system.vault / f"plain {n}.md").write_text(f"# Plain {n}\n\nA page of no interest, number {n}.\n")
    await system.settled(lambda status: status.pages == 4)
    before = await plain_rows(system)
    yield
    assert await plain_rows(system) == before
    assert (await system.search("page of no interest number 2")).citations[0].path == "plain 2.md"
    assert await dead_letters(system) == 0


async def plain_rows(system: System) -> list[tuple[object, ...]]:
    """Return all that is live of the plain pages."""
    rows = await system.rows(
        "SELECT p.path, p.revision, page_id::text, chunk_id::text, point_hash, embedded_in FROM pages p"
        " JOIN chunks USING (page_id) WHERE p.path LIKE 'plain %' ORDER BY 1"
    )
    return [tuple(row) for row in rows]


async def dead_letters(system: System) -> int:
    """Return how many messages were put aside."""
    info = await system.resources.client.jetstream().stream_info(system.topology.dead)
    return info.state.messages


async def troubles(system: System, files: list[Odd]) -> dict[str, str]:
    """Save files at once, wait until all is embedded, and search for each; return what is wrong by path."""
    await system.settled_vault()
    before = (await system.status()).pages
    for odd in files:
        place = system.vault / odd.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(odd.content)
    await system.settled(lambda status: status.pages + status.rejected_count >= before + len(files))
    found = {odd.path: odd.trouble_with(await search(system, odd.quote)) for odd in files}
    return {path: trouble for path, trouble in found.items() if trouble is not None}


async def search(system: System, query: str) -> SearchReply:
    """Search with room for everything and all the time that a loaded machine may need."""
    return await system.search(query, k=50, context_window=WHOLE_WINDOW, deadline_ms=20_000, expansion_depth=0)


async def reasons(system: System, count: int) -> dict[str, str]:
    """Return why files are rejected, once so many are."""
    status = await system.settled(lambda status: status.rejected_count == count)
    return {rejected.path: rejected.reason for rejected in status.rejected}


@pytest.mark.parametrize("make", [encodings, front_matters, shapes, names])
async def test_odd_files_are_cited_exactly(system: System, make: Callable[[], list[Odd]]) -> None:
    async with witnesses(system):
        assert await troubles(system, make()) == {}
        assert (await system.status()).rejected == ()


async def test_titles_that_are_no_text_are_shown_as_they_are_written(system: System) -> None:
    await troubles(system, front_matters())
    titles = {row["path"]: row["title"] for row in await system.rows("SELECT path, title FROM pages")}
    assert (titles["date.md"], titles["number.md"], titles["only.md"]) == ("2024-05-01", "42", "Onlyness")
    (broken,) = await system.rows("SELECT problems FROM pages WHERE path = 'broken.md'")
    assert broken["problems"]


async def test_drawings_and_images_are_kept_but_not_embedded(system: System) -> None:
    await troubles(system, [odd for odd in shapes() if odd.path in {"drawing.md", "image.md"}])
    embedded = "".join(row["embed_text"] for row in await system.rows("SELECT embed_text FROM chunks"))
    stored = "".join(row["text"] for row in await system.rows("SELECT text FROM chunks"))
    for data in ("iVBORw0KGgo", "excalidraw"):
        assert data in stored
        assert data not in embedded


async def test_an_empty_file_is_a_page_without_a_chunk(system: System) -> None:
    async with witnesses(system):
        (system.vault / "empty.md").touch()
        (system.vault / "blank.md").write_text(" \n\t\r\n")
        status = await system.settled(lambda status: status.pages == 6)
        assert status.rejected == ()
        await system.wait("empty.md", until="embedded")
        assert await system.rows("SELECT 1 FROM chunks JOIN pages USING (page_id) WHERE path = 'empty.md'") == []


async def test_a_chunk_that_its_escapes_make_larger_than_a_message_is_embedded_too(system: System) -> None:
    async with witnesses(system):
        limit = NatsFileLog(system.resources.client, system.topology).max_content_bytes
        lines = min(limit, WatcherOptions().max_bytes) // 2 - 100
        text = "# Quotes\n\nThe escapeword stands before them.\n\n```\n" + '"\n' * lines + "```\n"
        await system.write("quotes.md", text, until="embedded")
        assert (await system.search("escapeword")).citations[0].path == "quotes.md"
        with pytest.raises(Refused) as refused:
            await search(system, "escapeword")
        assert refused.value.reply.code == "too_large"


async def test_what_is_no_text_is_rejected_with_advice(system: System) -> None:
    async with witnesses(system):
        (system.vault / "photo.md").write_bytes(JPEG)
        (system.vault / "nul.md").write_bytes(b"# Text\n\nwith a \x00 in it\n")
        (system.vault / "half.md").write_bytes(b"\xff\xfe#")
        found = await reasons(system, 3)
        assert "JPEG" in found["photo.md"]
        assert "NUL" in found["nul.md"]
        assert all("UTF-8" in reason for reason in found.values())


async def test_a_file_that_no_message_can_carry_is_rejected_and_comes_when_it_is_shorter(
    nats_url: str, topology: Topology, database: str, tmp_path: Path
) -> None:
    async with running_system(nats_url, topology, database, tmp_path, watch=False) as system:
        client = system.resources.client
        options = WatcherOptions(max_bytes=client.max_payload * 2)
        limit = NatsFileLog(client, topology).max_content_bytes
        async with running_watcher(client, topology, system.vault, tmp_path / "watcher", options), witnesses(system):
            (system.vault / "huge.md").write_bytes(b"x" * (limit + 1))
            assert f"at most {limit:,}" in (await reasons(system, 1))["huge.md"]
            (system.vault / "huge.md").write_text("# Huge\n\nShorter now.\n")
            assert await reasons(system, 0) == {}
            assert (await search(system, "shorter now")).citations[0].path == "huge.md"
            (system.vault / "most.md").write_bytes((FILLER.encode() * (limit // len(FILLER) + 1))[:limit])
            assert (await system.settled(lambda status: status.pages == 6)).rejected == ()


async def test_a_file_without_read_permission_is_rejected_until_it_may_be_read(
    nats_url: str, topology: Topology, database: str, tmp_path: Path
) -> None:
    with without_rights_of_root():
        async with running_system(nats_url, topology, database, tmp_path) as system, witnesses(system):
            secret = system.vault / "secret.md"
            secret.write_text("# Secret\n\nThe cipherword.\n")
            await system.wait("secret.md")
            secret.chmod(0)
            secret.rename(system.vault / "moved.md")  # so that it must be read again
            assert "permission" in (await reasons(system, 1))["moved.md"]
            (system.vault / "moved.md").chmod(0o644)
            assert await reasons(system, 0) == {}
            assert (await search(system, "cipherword")).citations[0].path == "moved.md"


async def test_a_folder_without_read_permission_keeps_its_pages(
    nats_url: str, topology: Topology, database: str, tmp_path: Path
) -> None:
    with without_rights_of_root():
        async with running_system(nats_url, topology, database, tmp_path) as system, witnesses(system):
            await system.write("closed/page.md", "# Page\n\nThe vaultword.\n")
            closed = system.vault / "closed"
            closed.chmod(0)
            try:
                await system.settled()
                assert (await search(system, "vaultword")).citations[0].path == "closed/page.md"
            finally:
                closed.chmod(0o755)


async def test_links_that_loop_or_leave_and_hidden_names_are_no_pages(system: System, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("# Outside\n\nNot of this vault.\n")
    async with witnesses(system):
        vault = system.vault
        (vault / "loop").symlink_to(vault)
        (vault / "self.md").symlink_to(vault / "self.md")
        (vault / "leaves.md").symlink_to(outside)
        (vault / "inside.md").symlink_to(vault / "plain 1.md")
        (vault / ".md").write_text("# Hidden\n")
        (vault / ".hidden").mkdir()
        (vault / ".hidden/page.md").write_text("# Hidden\n")
        (vault / "note.md ").write_text("# A space after the ending\n")
        os.mkfifo(vault / "pipe.md")
        status = await system.settled()
        assert set(await system.paths()) == {*(f"plain {n}.md" for n in range(4)), "inside.md"}
        assert status.rejected == ()


async def test_two_spellings_of_one_name_are_one_page_and_one_rejection(system: System) -> None:
    async with witnesses(system):
        (system.vault / "\u00c4.md").write_text("# Composed\n\nThe composedword.\n")
        (system.vault / "A\u0308.md").write_text("# Decomposed\n\nThe decomposedword.\n")
        (system.vault / os.fsdecode(b"caf\xe9.md")).write_text("# Not UTF-8\n")
        found = await reasons(system, 2)
        assert all("rename" in reason for reason in found.values())
        assert (await search(system, "composedword")).citations[0].path == "\u00c4.md"
