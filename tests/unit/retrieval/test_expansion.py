from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from services.retrieval.expansion import HUB_WEIGHT, Bounds, Reached, walk
from services.retrieval.ports import Neighbours

Edges = Mapping[tuple[int, int], float]
"""Weights between pages that are known by a number, the smaller one first."""


def around(edges: Edges) -> dict[UUID, Neighbours]:
    """Return everybody's neighbours, as the catalogue gives them."""
    both = {**edges, **{(b, a): weight for (a, b), weight in edges.items()}}
    pages = {a for a, _ in both}
    return {
        UUID(int=page): Neighbours(
            f"Page {page}",
            f"page-{page}",
            tuple(
                (UUID(int=b), weight)
                for (a, b), weight in sorted(both.items(), key=lambda item: (-item[1], item[0]))
                if a == page
            ),
        )
        for page in pages
    }


def reached(
    edges: Edges, seeds: Sequence[int] | Mapping[int, float], bounds: Bounds, hubs: Sequence[int] = ()
) -> list[Reached]:
    standings = seeds if isinstance(seeds, Mapping) else dict.fromkeys(seeds, 1.0)
    pages = {UUID(int=seed): standing for seed, standing in standings.items()}
    return list(walk(around(edges), pages, {UUID(int=hub) for hub in hubs}, bounds))


def numbers(found: Sequence[Reached]) -> list[int]:
    return [each.page_id.int for each in found]


def test_a_step_weighs_what_the_edge_does_and_the_strongest_comes_first() -> None:
    found = reached({(1, 2): 3.0, (1, 3): 7.2, (4, 5): 9.0}, [1], Bounds(depth=2, total=9))

    assert [(each.page_id.int, each.weight, each.depth, each.via.int) for each in found] == [
        (3, 7.2, 1, 1),
        (2, 3.0, 1, 1),
    ]


def test_what_is_next_to_a_hit_that_is_hardly_one_comes_last_whatever_its_edge_weighs() -> None:
    found = reached({(1, 3): 3.0, (3, 5): 3.0, (2, 4): 9.0}, {1: 1.0, 2: 0.1}, Bounds(depth=2, total=9))

    assert [(each.page_id.int, each.weight) for each in found] == [(3, 3.0), (5, 1.5), (4, 9.0)]


def test_two_steps_weigh_half_of_the_weaker_edge_and_name_the_page_between() -> None:
    found = reached({(1, 2): 6.0, (2, 3): 4.0, (2, 4): 8.0}, [1], Bounds(depth=2, total=9))

    assert [(each.page_id.int, each.weight, each.depth, each.via.int) for each in found] == [
        (2, 6.0, 1, 1),
        (4, 3.0, 2, 2),
        (3, 2.0, 2, 2),
    ]


def test_a_farther_page_ranks_before_a_nearer_one_only_if_both_its_edges_are_more_than_twice_as_strong() -> None:
    nearer_first = reached({(1, 2): 3.0, (1, 3): 9.0, (3, 4): 6.0}, [1], Bounds(depth=2, total=9))
    farther_first = reached({(1, 2): 3.0, (1, 3): 9.0, (3, 4): 6.2}, [1], Bounds(depth=2, total=9))

    assert numbers(nearer_first) == [3, 2, 4]
    assert numbers(farther_first) == [3, 4, 2]


def test_a_page_that_is_reached_in_several_ways_counts_by_its_best_one() -> None:
    edges = {(1, 2): 0.8, (1, 3): 6.0, (2, 3): 6.0, (4, 2): 1.0}

    assert [(each.page_id.int, each.weight, each.via.int) for each in reached(edges, [4, 1], Bounds(2, 9))] == [
        (3, 6.0, 1),
        (2, 3.0, 3),
    ]


def test_equal_weights_follow_the_rank_of_their_seed_then_the_id() -> None:
    edges = {(1, 9): 3.0, (2, 7): 3.0, (2, 8): 3.0}

    assert numbers(reached(edges, [2, 1], Bounds(depth=1, total=9))) == [7, 8, 9]
    assert numbers(reached(edges, [1, 2], Bounds(depth=1, total=9))) == [9, 7, 8]


def test_depth_0_reaches_nothing_and_depth_1_only_neighbours() -> None:
    edges = {(1, 2): 3.0, (2, 3): 3.0}

    assert reached(edges, [1], Bounds(depth=0, total=9)) == []
    assert numbers(reached(edges, [1], Bounds(depth=1, total=9))) == [2]


def test_a_page_that_lists_others_is_not_walked_through_and_ranks_behind_pages_with_content() -> None:
    found = reached({(1, 5): 3.0, (5, 6): 3.0, (1, 2): 3.0}, [1], Bounds(depth=2, total=9), hubs=[5])

    assert [(each.page_id.int, each.weight) for each in found] == [(2, 3.0), (5, HUB_WEIGHT * 3.0)]


def test_a_seed_that_lists_others_is_not_walked_through() -> None:
    assert reached({(1, 2): 3.0}, [1], Bounds(depth=1, total=9), hubs=[1]) == []


def test_fan_out_keeps_the_strongest_edges_of_a_page() -> None:
    edges = {(1, n): float(n) for n in range(2, 8)}

    assert numbers(reached(edges, [1], Bounds(depth=1, total=9, fan_out=3))) == [7, 6, 5]


PAIRS = st.tuples(st.integers(1, 15), st.integers(1, 15)).filter(lambda pair: pair[0] < pair[1])


@given(
    st.dictionaries(PAIRS, st.floats(0.1, 20), max_size=60),
    st.lists(st.integers(1, 15), min_size=1, max_size=4, unique=True),
    st.integers(1, 2),
    st.integers(1, 12),
)
def test_the_walk_keeps_its_bounds_and_its_order(edges: Edges, seeds: list[int], depth: int, total: int) -> None:
    found = reached(edges, seeds, Bounds(depth=depth, total=total))
    everything = reached(edges, seeds, Bounds(depth=depth, total=1000))

    assert found == everything[:total]
    assert not set(numbers(found)) & set(seeds)
    assert len(set(numbers(found))) == len(found)
    assert all(1 <= each.depth <= depth for each in found)
    assert [each.weight for each in found] == sorted((each.weight for each in found), reverse=True)


@given(st.dictionaries(PAIRS, st.floats(0.1, 20), max_size=60), st.integers(1, 15))
def test_a_page_never_ranks_before_the_one_it_was_reached_through(edges: Edges, seed: int) -> None:
    found = reached(edges, [seed], Bounds(depth=2, total=1000))
    places = {each.page_id: place for place, each in enumerate(found)}

    assert all(places.get(each.via, -1) < places[each.page_id] for each in found)
    assert all(each.via.int == seed for each in found if each.depth == 1)
