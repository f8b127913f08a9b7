"""From a saved file to a cited reply, and what moves, edits and removals do on the way. All real."""

from __future__ import annotations

import os

import pytest
import structlog.testing
from pydantic import JsonValue

from services.retrieval.adapters.postgres.page_filter import page_passes, page_predicate
from shared.contracts.search import ResolveRequest
from shared.vectors.filter import FieldRange
from tests.system import Refused, System

PARAGRAPHS = [f"Paragraph {n} speaks of subject number {n} and of nothing else at all. " * 30 for n in range(8)]


def page(*paragraphs: str, title: str = "Long page") -> str:
    """Return a page with a section per paragraph."""
    sections = [f"## Part {n}\n\n{text}\n" for n, text in enumerate(paragraphs)]
    return f"---\ntitle: {title}\n---\n# {title}\n\n" + "\n".join(sections)


async def test_a_saved_file_is_found_and_cited_where_it_stands(system: System) -> None:
    text = "# Tide tables\n\nThe tide turns at noon.\n\n## Harbour\n\nThe harbour master is Ilse Marten.\n"
    await system.write("wiki/tides.md", text)
    reply = await system.search("who is the harbour master")
    assert reply.text.startswith("[1] Tide tables\n")
    citation = reply.citations[0]
    passage = citation.passages[0]
    assert (citation.path, citation.ref.title, citation.ref.slug) == ("wiki/tides.md", "Tide tables", "tides")
    assert "Ilse Marten" in text[passage.char_start : passage.char_end]
    assert reply.data_version > 0
    assert reply.dangling == 0


async def test_filters_bind_by_number_by_day_and_by_folder(system: System) -> None:
    await system.write("wiki/old.md", "---\nconfidence: 0.4\nlast_verified: 2024-12-31\n---\nThe pump is old.\n")
    await system.write("wiki/new.md", "---\nconfidence: 0.9\nlast_verified: 2025-01-01\n---\nThe pump is new.\n")
    await system.write("notes/pump.md", "A pump without any field.\n")

    async def found(**filters: JsonValue) -> set[str]:
        reply = await system.search("pump", filters=filters)
        return {citation.path for citation in reply.citations}

    assert await found(confidence={"gte": 0.5}) == {"wiki/new.md"}
    assert await found(last_verified={"lt": "2025-01-01"}) == {"wiki/old.md"}
    assert await found(confidence={"exists": False}) == {"notes/pump.md"}
    assert await found(path={"prefix": "wiki/"}) == {"wiki/new.md", "wiki/old.md"}
    either: list[JsonValue] = [{"confidence": {"lt": 0.5}}, {"path": {"prefix": "notes/"}}]
    assert await found(**{"or": either}) == {"wiki/old.md", "notes/pump.md"}
    asked = page_predicate(FieldRange("confidence", "number", gte=0.5))
    rows = await system.rows(f"SELECT path FROM pages p WHERE {page_passes(1, 2)}", asked.path, asked.variables)
    assert [row["path"] for row in rows] == ["wiki/new.md"]


async def test_an_edit_of_one_paragraph_embeds_one_text_and_shows_at_once(system: System) -> None:
    await system.write("wiki/long.md", page(*PARAGRAPHS))
    before = system.embedder.document_texts
    edited = [*PARAGRAPHS]
    edited[3] = edited[3].replace("subject number 3", "the quartermaster's ledger", 1)
    await system.write("wiki/long.md", page(*edited))
    assert system.embedder.document_texts - before == 1
    reply = await system.search("quartermaster's ledger")
    assert "quartermaster" in reply.text


async def test_a_rename_embeds_nothing_and_keeps_page_and_citations(system: System) -> None:
    await system.write("wiki/old name.md", page(*PARAGRAPHS[:3]))
    cited = (await system.search("subject number 2")).citations[0]
    before, ids = system.embedder.document_texts, await system.paths()
    (system.vault / "wiki/old name.md").rename(system.vault / "wiki/new name.md")
    await system.wait("wiki/new name.md", until="embedded")
    await system.settled(lambda status: status.removed == 1)
    assert system.embedder.document_texts == before
    assert await system.paths() == {"wiki/new name.md": ids["wiki/old name.md"]}
    passage = cited.passages[0]
    resolved = await system.resolve(
        ResolveRequest(page_id=cited.ref.id, chunk_id=passage.chunk_id, content_hash=passage.content_hash)
    )
    assert (resolved.state, resolved.path) == ("moved", "wiki/new name.md")
    assert await system.points() == {str(r["chunk_id"]) for r in await system.rows("SELECT chunk_id FROM chunks")}


async def test_two_swapped_names_keep_their_pages(system: System) -> None:
    await system.write("a.md", page("Alpha stands alone. " * 20, title="Alpha"))
    await system.write("b.md", page("Beta stands beside. " * 20, title="Beta"))
    ids, before = await system.paths(), system.embedder.document_texts
    a, b, spare = (system.vault / name for name in ("a.md", "b.md", "spare.tmp"))
    os.rename(a, spare)
    os.rename(b, a)
    os.rename(spare, b)
    await system.wait("a.md", until="embedded")
    await system.wait("b.md", until="embedded")
    await system.settled()
    assert await system.paths() == {"a.md": ids["b.md"], "b.md": ids["a.md"]}
    assert system.embedder.document_texts == before


async def test_workers_that_swap_pages_at_once_do_not_lock_each_other_out(system: System) -> None:
    a, b, spare = (system.vault / name for name in ("a.md", "b.md", "spare.tmp"))
    await system.write("a.md", page("Alpha stands alone. " * 20, title="Alpha"))
    await system.write("b.md", page("Beta stands beside. " * 20, title="Beta"))
    with structlog.testing.capture_logs() as logs:
        for _ in range(10):
            os.rename(a, spare)
            os.rename(b, a)
            os.rename(spare, b)
            await system.wait("a.md")
            await system.wait("b.md")
    assert [entry for entry in logs if entry["event"] == "delivery.retry"] == []


async def test_of_identical_files_one_is_deleted_and_the_other_stays(system: System) -> None:
    same = page("The same words twice. " * 20)
    await system.write("one.md", same)
    await system.write("two.md", same)
    ids, before = await system.paths(), system.embedder.document_texts
    (system.vault / "one.md").unlink()
    await system.settled(lambda status: status.pages == 1)
    assert await system.paths() == {"two.md": ids["two.md"]}
    assert system.embedder.document_texts == before
    assert len((await system.search("same words")).citations) == 1


async def test_a_moved_folder_moves_all_its_pages(system: System) -> None:
    for n in range(5):
        await system.write(f"drafts/p{n}.md", page(PARAGRAPHS[n], title=f"P{n}"))
    ids, before = await system.paths(), system.embedder.document_texts
    (system.vault / "drafts").rename(system.vault / "done")
    await system.settled(lambda status: status.removed == 5)
    assert await system.paths() == {path.replace("drafts", "done"): id_ for path, id_ in ids.items()}
    assert system.embedder.document_texts == before


async def test_a_removed_file_is_gone_from_search_and_its_citation_says_so(system: System) -> None:
    await system.write("wiki/gone.md", "# Gone\n\nThe albatross project was cancelled.\n")
    cited = (await system.search("albatross")).citations[0]
    (system.vault / "wiki/gone.md").unlink()
    await system.settled(lambda status: status.pages == 0)
    assert (await system.search("albatross")).citations == ()
    passage = cited.passages[0]
    resolved = await system.resolve(
        ResolveRequest(page_id=cited.ref.id, chunk_id=passage.chunk_id, content_hash=passage.content_hash)
    )
    assert resolved.state == "deleted"
    assert await system.points() == set()


async def test_raw_is_indexed_and_never_cited(system: System) -> None:
    await system.write("raw/source.md", "# Source\n\nThe walrus census counted 412 animals.\n")
    await system.write("wiki/census.md", "# Census\n\nA walrus census took place. See [[source]].\n")
    reply = await system.search("walrus census 412")
    assert [citation.path for citation in reply.citations] == ["wiki/census.md"]
    assert "412" not in reply.text
    assert (await system.status()).pages == 2


async def test_a_link_to_a_page_that_comes_later_is_resolved_when_it_comes(system: System) -> None:
    await system.write("a.md", "# A\n\nSee [[later]] and [[never]].\n")
    assert (await system.status()).dead_links == 2
    await system.write("folder/later.md", "# Later\n\nHere I am.\n")
    assert (await system.status()).dead_links == 1
    (system.vault / "folder/later.md").unlink()
    await system.settled(lambda status: status.dead_links == 2)


async def test_a_broken_revision_is_rejected_and_the_last_good_one_stays(system: System) -> None:
    await system.write("wiki/p.md", "# P\n\nThe lighthouse burns paraffin.\n")
    (system.vault / "wiki/p.md").write_bytes(b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(range(256)) * 20)
    with pytest.raises(Refused) as refused:
        await system.wait("wiki/p.md")
    assert refused.value.reply.code == "invalid"
    status = await system.settled(lambda status: status.rejected_count == 1)
    assert status.rejected[0].last_good_is_live
    assert "paraffin" in (await system.search("lighthouse paraffin")).text


async def test_a_vault_without_files_answers_with_an_empty_context(system: System) -> None:
    await system.settled_vault()
    reply = await system.search("anything")
    assert (reply.text, reply.citations, reply.approx_tokens) == ("", (), 0)


async def test_waiting_for_what_never_comes_ends_with_a_deadline(system: System) -> None:
    (system.vault / "note.tmp").write_text("not a page")
    with pytest.raises(Refused) as refused:
        await system.wait("note.tmp", timeout_ms=300)
    assert refused.value.reply.code == "deadline"


async def test_bad_requests_get_typed_errors_at_once(system: System) -> None:
    client = system.resources.client
    await system.write("a.md", "# A\n\nText.\n")
    for subject, body, code in (
        (system.topology.search("vault"), b"{", "invalid"),
        (system.topology.search("vault"), b'{"query": "   "}', "invalid"),
        (system.topology.search("vault"), b'{"query": "x", "k": 51}', "invalid"),
        (system.topology.search("vault"), b'{"query": "x", "filters": {"nonsense": 1}}', "invalid"),
        (system.topology.search("nobody"), b'{"query": "x"}', "not_found"),
        (system.topology.search("UPPER"), b'{"query": "x"}', "invalid"),
        (system.topology.ingest("status", "nobody"), b"", "not_found"),
    ):
        message = await client.request(subject, body, timeout=5)
        assert (message.headers or {}).get("Nats-Service-Error-Code") == code, (subject, body, message.data)
