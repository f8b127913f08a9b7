from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.retrieval.assembly import citations, entry_text, results
from services.retrieval.budget import Candidate, select
from services.retrieval.searching import SearchBounds
from services.retrieval.staleness import staleness, yielding
from tests.fakes.in_memory_live_pages import PageRow
from tests.unit.retrieval.scene import NEWER, VAULT, chunk, page, scene, titles


def candidate(number: int, *, stale: bool) -> Candidate:
    live = chunk(f"text {number}", page_number=number)
    return Candidate(replace(live, newer_source=NEWER if stale else None), 1.0, None, "vector")


def candidates(pattern: str) -> list[Candidate]:
    """Return one candidate per letter: `s` is stale."""
    return [candidate(number, stale=letter == "s") for number, letter in enumerate(pattern, start=1)]


def order(ranked: tuple[Candidate, ...]) -> list[int]:
    return [each.chunk.page_id.int for each in ranked]


@pytest.mark.parametrize(
    ("pattern", "places", "expected"),
    [
        ("sff", 0, [1, 2, 3]),
        ("sff", 1, [2, 1, 3]),
        ("sff", 9, [2, 3, 1]),
        ("ssf", 1, [1, 3, 2]),
        ("ffs", 2, [1, 2, 3]),
        ("sss", 5, [1, 2, 3]),
        ("", 3, []),
    ],
)
def test_a_stale_candidate_steps_back_behind_others_by_its_places(
    pattern: str, places: int, expected: list[int]
) -> None:
    assert order(yielding(candidates(pattern), places)) == expected


@given(st.text(alphabet="sf", max_size=20), st.integers(0, 30))
def test_no_candidate_is_lost_and_each_kind_keeps_its_order(pattern: str, places: int) -> None:
    after = order(yielding(candidates(pattern), places))
    stale = {number for number, letter in enumerate(pattern, start=1) if letter == "s"}

    assert sorted(after) == list(range(1, len(pattern) + 1))
    assert [each for each in after if each in stale] == sorted(stale)
    assert [each for each in after if each not in stale] == sorted(set(after) - stale)


@given(st.text(alphabet="sf", max_size=20), st.integers(0, 30))
def test_no_stale_candidate_is_overtaken_by_more_than_its_places(pattern: str, places: int) -> None:
    after = order(yielding(candidates(pattern), places))
    for number, letter in enumerate(pattern, start=1):
        if letter == "s":
            assert sum(other > number for other in after[: after.index(number)]) <= places


def test_a_citation_names_the_newer_source_and_both_days() -> None:
    stale, fresh = candidates("sf")
    cited = citations(select([stale, fresh], 1000, entry_text))

    assert cited[0].stale is not None
    assert cited[0].stale.source_path == "raw/minutes.md"
    assert (cited[0].stale.source_date, cited[0].stale.page_date) == (date(2025, 9, 2), date(2025, 7, 12))
    assert not cited[0].stale.by_file_time
    assert cited[1].stale is None
    assert [line.stale for line in results(cited)] == [True, False]


def test_a_source_dated_by_its_file_says_so() -> None:
    marked = staleness(replace(chunk("text"), newer_source=replace(NEWER, by_file=True)))

    assert marked is not None
    assert marked.by_file_time


PAGES = (
    PageRow(VAULT, "wiki/old.md", ("otter otter otter otter",), newer_source=NEWER),
    page("wiki/new.md", "otter otter and other animals"),
)


@pytest.mark.parametrize(("penalty", "expected"), [(0, ["old", "new"]), (1, ["new", "old"])])
async def test_the_setting_ranks_a_stale_page_down_and_never_leaves_it_out(penalty: int, expected: list[str]) -> None:
    reply = await (await scene(*PAGES, bounds=SearchBounds(stale_penalty=penalty))).search("otter", profile="sparse")

    assert titles(reply) == expected
    assert [line.stale for line in reply.results] == [title == "old" for title in expected]


async def test_of_several_seeds_not_even_the_penalty_of_all_places_leaves_a_stale_one_out_of_the_k_best() -> None:
    service = await scene(*PAGES, bounds=SearchBounds(stale_penalty=1000))

    assert titles(await service.search("otter", profile="sparse", k=1, expansion_depth=0)) == ["old"]
