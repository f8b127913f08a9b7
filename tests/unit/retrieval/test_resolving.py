from __future__ import annotations

from dataclasses import replace

import pytest

from services.retrieval.ports import LiveChunk
from services.retrieval.resolving import Resolve
from shared.contracts.search import ResolveReply, ResolveRequest
from shared.errors import NotFound, Unavailable
from tests.fakes.in_memory_live_pages import InMemoryLivePages, PageRow
from tests.unit.retrieval.scene import VAULT, page

CITED = page("wiki/rose.md", "roses are red", "roses need sun", "roses have thorns")


def request_for(chunk: LiveChunk) -> ResolveRequest:
    return ResolveRequest(page_id=chunk.page_id, chunk_id=chunk.chunk_id, content_hash=chunk.content_hash)


async def resolved(*now: PageRow, cited: int = 1) -> ResolveReply:
    """Cite a chunk of CITED, then ask in a vault that holds `now`."""
    return await Resolve(InMemoryLivePages({VAULT: list(now)})).resolve(VAULT, request_for(CITED.chunks()[cited]))


async def test_a_passage_that_stands_as_cited_is_current() -> None:
    reply = await resolved(CITED)

    assert (reply.state, reply.text, reply.path) == ("current", "roses need sun", "wiki/rose.md")
    assert reply.passage is not None
    assert reply.passage.line_start == 3


async def test_a_passage_of_a_moved_page_is_moved() -> None:
    reply = await resolved(replace(CITED, path="wiki/flowers/rose.md", born_at="wiki/rose.md"))

    assert (reply.state, reply.text, reply.path) == ("moved", "roses need sun", "wiki/flowers/rose.md")


async def test_the_same_words_at_another_place_of_the_page_are_moved() -> None:
    reply = await resolved(replace(CITED, texts=("new beginning", *CITED.texts)))

    assert (reply.state, reply.text) == ("moved", "roses need sun")
    assert reply.passage is not None
    assert reply.passage.line_start == 5


async def test_of_several_places_with_the_same_words_the_nearest_counts() -> None:
    texts = ("roses need sun", "a", "b", "roses need sun", "c")
    cited = replace(CITED, texts=("x", "y", "z", "q", "roses need sun")).chunks()[4]
    pages = InMemoryLivePages({VAULT: [replace(CITED, texts=texts)]})

    reply = await Resolve(pages).resolve(VAULT, request_for(cited))

    assert reply.passage is not None
    assert reply.passage.line_start == 7


async def test_reworded_passages_give_what_stands_there_now() -> None:
    reply = await resolved(replace(CITED, texts=("roses are red", "roses need much sun", "roses have thorns")))

    assert (reply.state, reply.text) == ("changed", "roses need much sun")


async def test_a_reworded_passage_of_a_moved_page_is_found_by_the_path_it_was_cited_from() -> None:
    moved = replace(CITED, path="b.md", born_at="wiki/rose.md", texts=("0", "1", "2"))

    assert (await resolved(moved, cited=2)).text == "2"


async def test_a_passage_behind_the_present_end_gives_the_last_one() -> None:
    assert (await resolved(replace(CITED, texts=("roses are red",)), cited=2)).text == "roses are red"


async def test_a_page_that_is_gone_is_deleted_even_when_another_took_its_place() -> None:
    successor = replace(CITED, born_at="elsewhere.md")

    assert (await resolved()).state == "deleted"
    assert (await resolved(successor)).state == "deleted"


async def test_a_page_without_any_passage_left_is_changed() -> None:
    reply = await resolved(replace(CITED, texts=()))

    assert (reply.state, reply.passage, reply.text) == ("changed", None, None)
    assert reply.ref is not None


async def test_an_unknown_vault_is_not_found() -> None:
    with pytest.raises(NotFound):
        await Resolve(InMemoryLivePages({})).resolve("nowhere", request_for(CITED.chunks()[0]))


async def test_a_page_that_changes_between_two_reads_is_read_again_but_not_for_ever() -> None:
    pages = InMemoryLivePages({VAULT: [replace(CITED, texts=("other",))]})

    def change() -> None:
        pages.data_version += 1

    pages.before["snapshot"] = change
    with pytest.raises(Unavailable, match="ask again"):
        await Resolve(pages).resolve(VAULT, request_for(CITED.chunks()[0]))
    assert pages.reads.count("outline") == 3
