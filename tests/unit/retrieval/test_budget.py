from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.retrieval.assembly import context_text, entry_text
from services.retrieval.budget import Candidate, budget_tokens, select
from shared.tokens import estimate_tokens
from tests.unit.retrieval.scene import chunk

TEXT = st.text(alphabet="ab .\n[1]日", min_size=1, max_size=200)


def candidate(text: str, *, page_number: int, start: int = 0) -> Candidate:
    return Candidate(chunk(text, page_number=page_number, start=start), 1.0, None, "vector")


@st.composite
def rankings(draw: st.DrawFn) -> list[Candidate]:
    """Chunks of a few pages in any order; those of one page stand one after another."""
    texts = draw(st.lists(TEXT, max_size=12))
    numbers = draw(st.lists(st.integers(1, 4), min_size=len(texts), max_size=len(texts)))
    return [
        candidate(text, page_number=number, start=300 * position)
        for position, (text, number) in enumerate(zip(texts, numbers, strict=True))
    ]


@given(rankings(), st.integers(0, 400))
def test_the_budget_is_never_exceeded_by_the_text_as_it_is_read(ranked: list[Candidate], budget: int) -> None:
    assert estimate_tokens(context_text(select(ranked, budget, entry_text))) <= budget


@given(rankings(), st.integers(0, 400))
def test_every_candidate_is_either_chosen_whole_or_counted_as_dropped(ranked: list[Candidate], budget: int) -> None:
    selection = select(ranked, budget, entry_text)
    chosen = [each for entry in selection.entries for each in entry.candidates]

    assert len(chosen) + selection.dropped == len(ranked)
    assert {each.chunk.chunk_id for each in chosen} <= {each.chunk.chunk_id for each in ranked}


@given(rankings(), st.integers(0, 400))
def test_what_was_dropped_did_not_fit_behind_what_ranks_before_it(ranked: list[Candidate], budget: int) -> None:
    chosen = {each.chunk.chunk_id for entry in select(ranked, budget, entry_text).entries for each in entry.candidates}
    for position, dropped in enumerate(ranked):
        if dropped.chunk.chunk_id in chosen:
            continue
        before = [each for each in ranked[:position] if each.chunk.chunk_id in chosen]
        entries = select([*before, dropped], 1_000_000, entry_text).entries
        assert sum(entry.tokens for entry in entries) > budget


@given(rankings(), st.integers(0, 400))
def test_entries_are_numbered_from_1_in_the_order_of_their_best_candidate(ranked: list[Candidate], budget: int) -> None:
    entries = select(ranked, budget, entry_text).entries
    firsts = [ranked.index(entry.candidates[0]) for entry in entries]

    assert [entry.n for entry in entries] == list(range(1, len(entries) + 1))
    assert firsts == sorted(firsts)


def test_a_smaller_passage_of_lower_rank_takes_the_place_that_a_big_one_could_not() -> None:
    ranked = [candidate("a" * 40, page_number=1), candidate("b" * 4000, page_number=2), candidate("c", page_number=3)]

    selection = select(ranked, 30, entry_text)

    assert [entry.candidates[0].chunk.text for entry in selection.entries] == ["a" * 40, "c"]
    assert selection.dropped == 1


def test_a_budget_of_0_gives_no_passages() -> None:
    selection = select([candidate("a", page_number=1)], 0, entry_text)

    assert selection.entries == ()
    assert selection.dropped == 1


def test_the_budget_is_a_fifth_of_the_window_rounded_down() -> None:
    assert [budget_tokens(window) for window in (0, 4, 5, 32_768)] == [0, 0, 1, 6553]
