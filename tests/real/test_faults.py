"""Stores and streams that are wiped, providers that are away, settings that change: what is live stays true."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from shared.errors import NotFound
from shared.provision import provision_bus
from shared.topology import Topology
from tests.fakes.failing_embedder import FailingEmbedder
from tests.system import System, running_system


def note(n: int) -> str:
    """Return a page that differs from the others."""
    return f"---\ntitle: Note {n}\n---\n# Note {n}\n\nThe marker of this note is m{n}x. See [[n{n - 1}]].\n"


async def filled(system: System, count: int = 6) -> dict[str, object]:
    """Write some notes and return what is live."""
    for n in range(count):
        (system.vault / f"n{n}.md").write_text(note(n))
    await system.settled(lambda status: status.pages == count)
    return await system.snapshot()


async def until(condition: Callable[[], Awaitable[bool]], timeout_s: float = 30.0) -> None:
    """Wait until an async condition holds."""
    async with asyncio.timeout(timeout_s):
        while not await condition():  # noqa: ASYNC110  (what it asks has no event)
            await asyncio.sleep(0.05)


async def test_wiped_vectors_come_back_without_embedding(system: System) -> None:
    before = await filled(system)
    embedded = system.embedder.document_texts
    await system.resources.store.drop_space(system.resources.space.name)

    async def back() -> bool:
        try:
            return await system.snapshot() == before
        except NotFound:  # the space does not exist until the sweep makes it
            return False

    await until(back)
    assert system.embedder.document_texts == embedded
    reply = await system.search("m3x")
    assert reply.citations[0].path == "n3.md"
    assert reply.citations[0].similarity is not None


async def test_points_without_a_row_are_invisible_and_go(system: System) -> None:
    before = await filled(system)
    page = (await system.rows("DELETE FROM pages WHERE path = 'n2.md' RETURNING page_id"))[0]["page_id"]
    reply = await system.search("m2x")
    assert page not in {citation.ref.id for citation in reply.citations}
    assert reply.dangling > 0

    async def gone() -> bool:
        return len(await system.points()) == len(before["points"]) - 1  # type: ignore[arg-type]

    await until(gone)


async def test_a_files_stream_that_was_wiped_and_made_anew_loses_nothing_and_stops_nothing(system: System) -> None:
    before = await filled(system)
    embedded = system.embedder.document_texts
    await system.resources.client.jetstream().delete_stream(system.topology.files)
    await provision_bus(system.resources.client, system.topology)

    async def refilled() -> bool:
        info = await system.resources.client.jetstream().stream_info(system.topology.files)
        return info.state.messages >= 6

    await until(refilled)
    await system.settled()
    assert await system.snapshot() == before
    assert system.embedder.document_texts == embedded
    await system.write("n1.md", note(1) + "\nAn addition after the wipe: zebra.\n")
    assert (await system.search("zebra")).citations[0].path == "n1.md"


async def test_a_wiped_embed_stream_is_filled_again(
    nats_url: str, topology: Topology, database: str, tmp_path: Path
) -> None:
    embedder = FailingEmbedder(away=True)
    async with running_system(nats_url, topology, database, tmp_path, embedder=embedder) as system:
        for n in range(4):
            await system.write(f"n{n}.md", note(n), until="searchable")
        await system.resources.client.jetstream().purge_stream(topology.embed)
        embedder.away = False
        status = await system.settled()
    assert (status.chunks, status.embedded_chunks) == (4, 4)


async def test_without_the_provider_pages_are_searchable_and_the_reply_says_what_is_missing(
    nats_url: str, topology: Topology, database: str, tmp_path: Path
) -> None:
    embedder = FailingEmbedder(away=True)
    async with running_system(nats_url, topology, database, tmp_path, embedder=embedder) as system:
        await system.write("n1.md", note(1), until="searchable")
        reply = await system.search("m1x")
        assert reply.citations[0].path == "n1.md"
        assert reply.degraded is not None
        embedder.away = False
        await system.wait("n1.md", until="embedded", timeout_ms=40_000)
        reply = await system.search("m1x")
    assert reply.degraded is None
    assert reply.citations[0].similarity is not None


async def test_changed_rules_work_exactly_the_pages_again_and_embed_nothing(system: System) -> None:
    await system.write("with.md", "---\ntitle: With\narea: north\n---\nText of with.\n")
    await system.write("without.md", "---\ntitle: Without\n---\nText of without.\n")
    before, embedded = await system.snapshot(), system.embedder.document_texts
    settings = system.vault / ".citebus.toml"
    settings.write_text('[schema]\nstrict = true\nrequired = ["area"]\n')
    status = await system.settled(lambda status: status.rejected_count == 1)
    assert status.rejected[0].path == "without.md"
    assert "area" in status.rejected[0].reason
    assert status.rejected[0].last_good_is_live
    settings.unlink()
    await system.settled(lambda status: status.rejected_count == 0)
    assert await system.snapshot() == before
    assert system.embedder.document_texts == embedded


async def test_an_exclusion_removes_pages_and_its_end_brings_them_back_without_embedding(system: System) -> None:
    await system.write("drafts/d.md", note(1))
    await system.write("n.md", note(2))
    before, embedded = await system.snapshot(), system.embedder.document_texts
    settings = system.vault / ".citebus.toml"
    settings.write_text('exclude = ["drafts/"]\n')
    await system.settled(lambda status: status.pages == 1)
    settings.unlink()
    await system.settled(lambda status: status.pages == 2)
    assert await system.snapshot() == before
    assert system.embedder.document_texts == embedded


async def test_a_second_run_on_the_same_state_embeds_nothing_and_goes_on(
    nats_url: str, topology: Topology, database: str, tmp_path: Path
) -> None:
    async with running_system(nats_url, topology, database, tmp_path) as system:
        before = await filled(system)
    (tmp_path / "vault/n0.md").write_text(note(0) + "\nChanged while nothing ran.\n")
    async with running_system(nats_url, topology, database, tmp_path) as system:
        await system.wait("n0.md", until="embedded")
        status = await system.settled()
        assert system.embedder.document_texts == 1
        assert status.pages == 6
        assert (await system.snapshot())["links"] == before["links"]
