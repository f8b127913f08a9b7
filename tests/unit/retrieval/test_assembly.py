from __future__ import annotations

import re
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from services.retrieval.assembly import citations, context_text, entry_text, joined, results
from services.retrieval.budget import Candidate, select
from services.retrieval.ports import LiveChunk
from tests.unit.retrieval.scene import chunk

PAGE = "".join(chr(ord("a") + n % 26) for n in range(400))
HOSTILE = st.text(alphabet="[]【】［］(0123),-– \nx", max_size=80)
SPANS = st.lists(st.tuples(st.integers(0, 300), st.integers(1, 100)), min_size=1, max_size=6)


def spans_of_page(spans: list[tuple[int, int]]) -> list[LiveChunk]:
    return [
        chunk(PAGE[start : start + length], start=start, index=index)
        for index, (start, length) in enumerate(sorted(spans))
    ]


@given(SPANS, st.randoms())
def test_joined_chunks_say_each_character_of_the_page_once_in_its_order(
    spans: list[tuple[int, int]], random: Random
) -> None:
    covered = sorted({position for start, length in spans for position in range(start, start + length)})
    chunks = spans_of_page(spans)
    random.shuffle(chunks)

    assert re.sub(r"[\n…]", "", joined(chunks)) == "".join(PAGE[position] for position in covered)


def test_an_overlap_is_written_once() -> None:
    assert joined([chunk("one two three", start=0), chunk("three four", start=8, index=1)]) == "one two three four"


def test_a_chunk_within_another_adds_nothing() -> None:
    assert joined([chunk("one two three", start=0), chunk("two", start=4, index=1)]) == "one two three"


def test_a_chunk_reaching_beyond_a_contained_one_is_joined_to_the_longer_reach() -> None:
    chunks = [chunk("abcdefghij", start=0), chunk("cd", start=2, index=1), chunk("hijkl", start=7, index=2)]

    assert joined(chunks) == "abcdefghijkl"


def test_neighbours_that_do_not_touch_are_separated_by_a_blank_line() -> None:
    assert joined([chunk("one", start=0), chunk("two", start=5, index=1)]) == "one\n\ntwo"


def test_left_out_text_between_two_chunks_shows_as_an_ellipsis() -> None:
    assert joined([chunk("one", start=0), chunk("five", start=90, index=4)]) == "one\n\n…\n\nfive"


def test_an_entry_is_its_marker_and_title_then_the_passage() -> None:
    assert entry_text(3, [chunk("Text.", title="  A\n title ")]) == "[3] A title\nText."


@given(st.lists(st.tuples(HOSTILE, HOSTILE, st.integers(1, 3)), max_size=6))
def test_the_markers_in_the_context_are_exactly_those_of_the_citations(sources: list[tuple[str, str, int]]) -> None:
    ranked = [
        Candidate(chunk(text, page_number=number, start=100 * position, title=title or "t"), 1.0, None, "vector")
        for position, (title, text, number) in enumerate(sources)
    ]
    selection = select(ranked, 10_000, entry_text)
    cited = citations(selection)

    markers = re.findall(r"[\[【［]\s*(\d+)(?:\s*[,–-]\s*\d+)*\s*[\]】］]", context_text(selection))

    assert [int(marker) for marker in markers] == [citation.n for citation in cited] == list(range(1, len(cited) + 1))


def test_passages_of_one_page_share_a_citation_with_the_best_score_and_similarity() -> None:
    ranked = [
        Candidate(chunk("second", start=50, index=1), 0.9, 0.4, "vector"),
        Candidate(chunk("other", page_number=2), 0.8, None, "vector"),
        Candidate(chunk("first", start=0), 0.7, 0.6, "vector"),
    ]
    cited = citations(select(ranked, 1000, entry_text))

    assert [(each.n, each.score, each.similarity) for each in cited] == [(1, 0.9, 0.6), (2, 0.8, None)]
    assert [each.char_start for each in cited[0].passages] == [0, 50]
    assert [(line.n, line.id, line.score) for line in results(cited)] == [(c.n, c.ref.id, c.score) for c in cited]
