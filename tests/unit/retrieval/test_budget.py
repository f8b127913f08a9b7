from __future__ import annotations

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from services.retrieval.assembly import context_text, entry_text
from services.retrieval.budget import Candidate, Selection, budget_tokens, select
from shared.tokens import estimate_tokens
from tests.unit.retrieval.scene import chunk

BUDGETS = st.integers(0, 400)
SHARES = st.sampled_from([0.0, 0.3, 0.5, 1.0])
TEXT = st.text(alphabet="ab .\n[1]日", min_size=1, max_size=200)


def candidate(text: str, *, page_number: int, start: int = 0) -> Candidate:
    return Candidate(chunk(text, page_number=page_number, start=start), 1.0, None, "vector")


def chosen_of(selection: Selection) -> list[Candidate]:
    return [each for entry in selection.entries for each in entry.candidates]


def ids(selection: Selection) -> list[UUID]:
    return [each.chunk.chunk_id for each in chosen_of(selection)]


def tokens_of(chosen: list[Candidate]) -> int:
    """Return what these take together when there is room for all."""
    return sum(entry.tokens for entry in select(chosen, 1_000_000, entry_text).entries)


@st.composite
def rankings(draw: st.DrawFn) -> list[Candidate]:
    """Chunks of a few pages in any order, apart from each other or overlapping."""
    step = draw(st.sampled_from([300, 20]))
    texts = draw(st.lists(TEXT, max_size=12))
    numbers = draw(st.lists(st.integers(1, 4), min_size=len(texts), max_size=len(texts)))
    places = draw(st.permutations(range(len(texts))))
    return [
        candidate(text, page_number=number, start=step * place)
        for place, text, number in zip(places, texts, numbers, strict=True)
    ]


@given(rankings(), BUDGETS, SHARES)
def test_the_budget_is_never_exceeded_by_the_text_as_it_is_read(
    ranked: list[Candidate], budget: int, share: float
) -> None:
    assert estimate_tokens(context_text(select(ranked, budget, entry_text, share))) <= budget


@given(rankings(), BUDGETS, SHARES)
def test_every_candidate_is_either_chosen_whole_or_counted_as_dropped(
    ranked: list[Candidate], budget: int, share: float
) -> None:
    selection = select(ranked, budget, entry_text, share)

    assert len(ids(selection)) + selection.dropped == len(ranked)
    assert set(ids(selection)) <= {each.chunk.chunk_id for each in ranked}


@given(rankings(), BUDGETS, SHARES)
def test_nothing_that_was_dropped_would_still_fit(ranked: list[Candidate], budget: int, share: float) -> None:
    chosen = chosen_of(select(ranked, budget, entry_text, share))
    for position in set(range(len(ranked))) - {ranked.index(each) for each in chosen}:
        assert tokens_of([*chosen, ranked[position]]) > budget


@given(rankings(), BUDGETS, SHARES)
def test_entries_are_numbered_from_1_in_the_order_of_their_best_candidate(
    ranked: list[Candidate], budget: int, share: float
) -> None:
    entries = select(ranked, budget, entry_text, share).entries
    positions = [[ranked.index(each) for each in entry.candidates] for entry in entries]

    assert [entry.n for entry in entries] == list(range(1, len(entries) + 1))
    assert [entry.text.partition(" ")[0] for entry in entries] == [f"[{entry.n}]" for entry in entries]
    assert positions == sorted(sorted(each) for each in positions)


@given(rankings(), BUDGETS, SHARES)
def test_the_same_candidates_give_the_same_selection(ranked: list[Candidate], budget: int, share: float) -> None:
    assert select(ranked, budget, entry_text, share) == select(ranked, budget, entry_text, share)


@st.composite
def crowds(draw: st.DrawFn) -> list[Candidate]:
    """Many chunks of one page among single ones of others."""
    texts = draw(st.lists(TEXT, max_size=12))
    crowd = draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)))
    return [
        candidate(text, page_number=1 if crowding else position + 2, start=300 * position)
        for position, (text, crowding) in enumerate(zip(texts, crowd, strict=True))
    ]


@given(crowds(), BUDGETS, SHARES)
def test_what_a_page_takes_beyond_its_share_nobody_else_could_have_had(
    ranked: list[Candidate], budget: int, share: float
) -> None:
    chosen = chosen_of(select(ranked, budget, entry_text, share))
    mine = [each for each in chosen if each.chunk.page_id.int == 1]
    others = [each for each in chosen if each.chunk.page_id.int != 1]
    counts = range(len(mine), 0, -1)
    within = next((mine[:count] for count in counts if count == 1 or tokens_of(mine[:count]) <= share * budget), [])
    for each in ranked:
        if each.chunk.page_id.int != 1 and each not in others:
            assert tokens_of([*within, *others, each]) > budget


def test_a_page_takes_no_more_than_its_share_while_others_wait_and_then_what_they_leave() -> None:
    crowd = [candidate("a" * 40, page_number=1, start=100 * position) for position in range(4)]
    other = candidate("b" * 40, page_number=2)

    def texts(budget: int, share: float) -> list[int]:
        return [len(entry.candidates) for entry in select([*crowd, other], budget, entry_text, share).entries]

    assert texts(50, 0.5) == [3, 1]
    assert texts(50, 1.0) == [4]
    assert texts(60, 0.5) == [4, 1]
    assert texts(60, 0.0) == [4, 1]


def test_the_best_passage_of_a_page_is_taken_even_if_it_is_larger_than_the_share() -> None:
    ranked = [candidate("a" * 200, page_number=1), candidate("b" * 40, page_number=2)]

    (entry,) = select(ranked, 60, entry_text, 0.5).entries

    assert entry.candidates == (ranked[0],)


def test_the_tokens_that_an_overlap_saves_go_to_other_passages() -> None:
    page = "".join(chr(ord("a") + n % 26) for n in range(120))
    overlapping = [candidate(page[:80], page_number=1), candidate(page[40:], page_number=1, start=40)]
    apart = [candidate(page[:80], page_number=1), candidate(page[40:], page_number=1, start=80)]
    other = candidate("o" * 24, page_number=2)

    assert select([*overlapping, other], 45, entry_text, 1.0).dropped == 0
    assert select([*apart, other], 45, entry_text, 1.0).dropped == 1


def test_a_passage_that_was_too_large_is_taken_when_its_neighbours_have_most_of_it() -> None:
    page = "".join(chr(ord("a") + n % 26) for n in range(240))
    middle = candidate(page[20:220], page_number=1, start=20)
    ranked = [candidate(page[:120], page_number=1), middle, candidate(page[110:], page_number=1, start=110)]

    (entry,) = select(ranked, 66, entry_text, 1.0).entries

    assert set(map(id, entry.candidates)) == set(map(id, ranked))
    assert entry.text.endswith(page)


@given(rankings(), st.integers(0, 400), st.integers(0, 400))
def test_a_larger_budget_never_loses_the_first_passage_that_tells_two_selections_apart(
    ranked: list[Candidate], budget: int, more: int
) -> None:
    """More citations is not what a larger budget promises: one large passage may take the place of two small ones."""
    alone = list({each.chunk.page_id: each for each in ranked}.values())
    small, large = (set(ids(select(alone, size, entry_text))) for size in (budget, budget + more))
    for each in alone:
        if (each.chunk.chunk_id in small) != (each.chunk.chunk_id in large):
            assert each.chunk.chunk_id in large
            break


def test_a_larger_budget_may_hold_fewer_citations() -> None:
    ranked = [candidate(text, page_number=n) for n, text in enumerate(["a" * 120, "b" * 20, "c" * 20], start=1)]

    assert [len(select(ranked, budget, entry_text).entries) for budget in (20, 36, 60)] == [2, 1, 3]


@given(rankings(), SHARES)
def test_a_budget_for_everything_takes_everything(ranked: list[Candidate], share: float) -> None:
    selection = select(ranked, 10_000, entry_text, share)

    assert selection.dropped == 0
    assert select(ranked, sum(entry.tokens for entry in selection.entries), entry_text, share) == selection


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
