from __future__ import annotations

import re
from dataclasses import replace

import pytest

from services.retrieval.searching import SearchBounds
from services.retrieval.seeding import SeedBounds
from shared.contracts.search import SearchRequest
from shared.errors import InvalidInput, NotFound, Unavailable
from shared.tokens import estimate_tokens
from tests.fakes.watched_search import point_of
from tests.unit.retrieval.scene import VAULT, Scene, page, scene, titles


async def garden() -> Scene:
    return await scene(
        page("wiki/rose.md", "roses are red", "roses need sun", links=("wiki/pond.md",)),
        page("wiki/pond.md", "water and fish", links=("wiki/frog.md",)),
        page("wiki/frog.md", "green and loud"),
        page("raw/rose-notes.md", "roses roses roses"),
        page("wiki/oak.md", "a tall oak"),
    )


async def test_a_reply_holds_the_passages_under_numbered_titles() -> None:
    reply = await (await garden()).search("roses", profile="sparse", expansion_depth=0)

    assert reply.text == "[1] rose\nroses are red\n\nroses need sun"
    assert [passage.line_start for passage in reply.citations[0].passages] == [1, 3]
    assert (reply.retriever, reply.data_version, reply.token_budget) == ("sparse", 1, 6553)
    assert reply.approx_tokens == estimate_tokens(reply.text)


async def test_linked_pages_follow_the_found_ones_nearest_first() -> None:
    reply = await (await garden()).search("roses", profile="sparse")

    assert [(each.ref.title, each.phase, each.score) for each in reply.citations[1:]] == [
        ("pond", "expansion", 3.0),
        ("frog", "expansion", 1.5),
    ]
    assert titles(await (await garden()).search("roses", profile="sparse", expansion_depth=1)) == ["rose", "pond"]


async def test_a_linked_page_says_how_strongly_and_from_which_page_it_is_linked() -> None:
    reply = await (await garden()).search("roses", profile="sparse")

    assert [(each.weight, each.via and each.via.title) for each in reply.citations] == [
        (None, None),
        (3.0, "rose"),
        (1.5, "pond"),
    ]
    assert [(each.weight, each.via) for each in reply.results] == [
        (each.weight, each.via and each.via.id) for each in reply.citations
    ]


async def test_each_linked_page_gives_the_chunk_that_answers_best() -> None:
    scenery = await scene(
        page("a.md", "roses", links=("b.md",)), page("b.md", "nothing here", "roses in the second chunk")
    )
    reply = await scenery.search("roses", profile="sparse", k=1)

    assert "[2] b\nroses in the second chunk" in reply.text


async def test_pages_that_are_never_cited_appear_neither_as_hits_nor_as_links() -> None:
    scenery = await scene(
        page("wiki/a.md", "roses", links=("raw/b.md", "wiki/c.md")),
        page("raw/b.md", "roses roses"),
        page("wiki/c.md", "fish", links=("raw/b.md",)),
    )
    for profile in ("sparse", "dense", "hybrid"):
        assert "b" not in titles(await scenery.search("roses", profile=profile))


async def test_a_page_that_a_new_setting_excludes_is_not_cited_although_the_store_still_offers_it() -> None:
    scenery = await garden()
    await scenery.search("roses")
    scenery.pages.never_cite = ("raw/", "wiki/ro")

    assert "rose" not in titles(await scenery.search("roses", profile="sparse"))


async def test_no_hit_is_a_normal_reply_with_an_empty_context() -> None:
    reply = await (await garden()).search("zebra", profile="sparse")

    assert (reply.text, reply.citations, reply.results, reply.approx_tokens) == ("", (), (), 0)
    assert not reply.truncated


async def test_a_window_of_0_gives_no_passages_and_counts_what_was_dropped() -> None:
    reply = await (await garden()).search("roses", profile="sparse", context_window=0)

    assert (reply.text, reply.token_budget, reply.dropped) == ("", 0, 2)


@pytest.mark.parametrize("window", [5, 30, 60, 100, 200, 400])
async def test_a_small_window_is_never_overfilled(window: int) -> None:
    reply = await (await garden()).search("roses", context_window=window)

    assert reply.approx_tokens <= reply.token_budget == int(window * 0.2)
    assert len(re.findall(r"^\[\d+\]", reply.text, re.MULTILINE)) == len(reply.citations)


async def test_vectors_that_no_row_backs_are_left_out_and_counted() -> None:
    scenery = await garden()
    gone = page("wiki/gone.md", "roses of old")
    await scenery.store.upsert(scenery.space, [point_of(gone, chunk) for chunk in gone.chunks()])

    reply = await scenery.search("roses", profile="sparse")

    assert "gone" not in titles(reply)
    assert reply.dangling == 1


@pytest.mark.parametrize("profile", ["sparse", "dense", "hybrid"])
async def test_k_live_chunks_are_found_although_most_vectors_dangle(profile: str) -> None:
    live = [page(f"wiki/live{n}.md", f"roses and {'weeds ' * 9}{n}") for n in range(6)]
    bounds = SearchBounds(seeds=SeedBounds(depth=10, spare=2))
    scenery = await scene(*live, bounds=bounds)
    ghosts = [page(f"wiki/ghost{n}.md", "roses") for n in range(300)]
    vector = await scenery.embedder.embed_query("roses")
    await scenery.store.upsert(scenery.space, [point_of(g, c, vector) for g in ghosts for c in g.chunks()])
    scenery.embedder.queries.clear()

    reply = await scenery.search("roses", profile=profile, k=5, expansion_depth=0)

    assert len(reply.citations) == 5
    assert reply.dangling == 300
    assert len(scenery.embedder.queries) <= 1, "looking deeper does not embed again"


async def test_looking_deeper_ends_at_its_bound_and_says_so() -> None:
    bounds = SearchBounds(seeds=SeedBounds(depth=10, spare=2, max_depth=40))
    scenery = await scene(page("wiki/live.md", f"roses {'weeds ' * 9}"), bounds=bounds)
    ghosts = [page(f"wiki/ghost{n}.md", "roses") for n in range(300)]
    await scenery.store.upsert(scenery.space, [point_of(g, c) for g in ghosts for c in g.chunks()])

    reply = await scenery.search("roses", profile="sparse", k=1)

    assert reply.truncated
    assert reply.citations == ()


async def test_the_words_are_read_in_all_languages_of_the_vault() -> None:
    scenery = await scene(page("a.md", "roses"), replace(page("b.md", "Rosen"), language="de"))
    await scenery.search("Rosen")

    assert scenery.encoder.languages[0] == ("de", "en")


async def test_a_search_embeds_its_query_once_whatever_its_phases_need() -> None:
    scenery = await garden()
    await scenery.search("roses")

    assert scenery.embedder.queries == ["roses"]


async def test_while_embedding_is_away_the_reply_says_why_it_is_lexical() -> None:
    scenery = await garden()
    scenery.embedder.error = Unavailable("The model is away.")

    reply = await scenery.search("roses")

    assert titles(reply)[0] == "rose"
    assert reply.degraded == "Searched by words only: The model is away."
    assert reply.citations[0].similarity is None


async def test_a_change_between_two_reads_gives_one_version_not_a_mixture() -> None:
    scenery = await garden()

    def rewrite_pond() -> None:
        scenery.pages.before.clear()
        rows = scenery.pages.vaults[VAULT]
        rows[1] = replace(rows[1], title="Pond", revision=2)
        scenery.pages.data_version = 2

    scenery.pages.before["openings"] = rewrite_pond
    reply = await scenery.search("roses", profile="sparse", expansion_depth=1)

    assert reply.data_version == 2
    assert titles(reply) == ["rose", "Pond"]


async def test_a_found_page_that_changes_between_two_reads_is_searched_again() -> None:
    scenery = await scene(
        page("wiki/rose.md", "roses roses", links=("wiki/pond.md",)),
        page("wiki/pond.md", "water"),
        page("wiki/oak.md", "an oak among roses"),
    )

    def rewrite_rose() -> None:
        scenery.pages.before.clear()
        rows = scenery.pages.vaults[VAULT]
        rows[0] = replace(rows[0], texts=("other words",), revision=2)
        scenery.pages.data_version = 2

    scenery.pages.before["openings"] = rewrite_rose
    reply = await scenery.search("roses", profile="sparse", expansion_depth=1, k=1)

    assert reply.data_version == 2
    assert titles(reply) == ["oak"]


async def test_a_quiet_search_reads_the_catalogue_three_times() -> None:
    scenery = await scene(page("a.md", "roses", links=("b.md",)), page("b.md", "fish"))
    await scenery.search("roses", profile="sparse", expansion_depth=1)

    assert scenery.pages.reads == ["vault", "traits", "snapshot", "neighbours", "openings"]


@pytest.mark.parametrize("query", [" ", "\n\t", "\u3000"])
async def test_a_query_of_blanks_only_is_refused(query: str) -> None:
    with pytest.raises(InvalidInput, match="blanks"):
        await (await garden()).search(query)


async def test_an_unknown_profile_or_filter_or_vault_is_refused() -> None:
    scenery = await garden()
    with pytest.raises(InvalidInput, match="Known: dense, hybrid, sparse"):
        await scenery.search("roses", profile="magic")
    with pytest.raises(InvalidInput, match="no filter field 'colour'"):
        await scenery.search("roses", filters={"colour": "red"})
    with pytest.raises(NotFound, match="no vault 'nowhere'"):
        await scenery.service.search("nowhere", SearchRequest(query="roses"))


async def test_without_a_live_space_the_caller_is_told_to_come_back() -> None:
    scenery = await garden()
    scenery.pages.space = None
    with pytest.raises(Unavailable, match="no live embedding space"):
        await scenery.search("roses")


async def test_the_timings_add_up_to_no_more_than_the_total() -> None:
    timings = (await (await garden()).search("roses")).timings_ms
    phases = timings.embed + timings.search + timings.expansion + timings.budget + timings.assembly

    assert 0 < phases <= timings.total
