from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from services.retrieval.expansion import HUB_WEIGHT, LINK_WEIGHT, Bounds, Reached, walk
from services.retrieval.ports import Neighbours

Edges = set[tuple[int, int]]


class LinkTable:
    """Links between pages that are known by a number; records what is read."""

    def __init__(self, edges: Edges) -> None:
        self.reads: list[list[int]] = []
        self._edges = edges

    async def __call__(self, page_ids: Sequence[UUID], limit: int) -> Mapping[UUID, Neighbours]:
        self.reads.append([page_id.int for page_id in page_ids])
        return {
            each: Neighbours(
                outgoing=tuple(UUID(int=b) for a, b in sorted(self._edges) if a == each.int != b)[:limit],
                incoming=tuple(UUID(int=a) for a, b in sorted(self._edges) if b == each.int != a)[:limit],
            )
            for each in page_ids
        }


def reached(edges: Edges, seeds: Sequence[int], bounds: Bounds, hubs: Sequence[int] = ()) -> list[Reached]:
    ids = [UUID(int=seed) for seed in seeds]
    return list(asyncio.run(walk(LinkTable(edges), ids, {UUID(int=hub) for hub in hubs}, bounds)))


def numbers(found: Sequence[Reached]) -> list[int]:
    return [each.page_id.int for each in found]


def test_links_count_in_both_directions_and_a_two_way_link_counts_twice() -> None:
    found = reached({(1, 2), (3, 1), (1, 4), (4, 1)}, [1], Bounds(depth=1, total=9))

    assert [(each.page_id.int, each.weight) for each in found] == [
        (4, 2 * LINK_WEIGHT),
        (2, LINK_WEIGHT),
        (3, LINK_WEIGHT),
    ]


def test_a_step_further_halves_the_weight() -> None:
    found = reached({(1, 2), (2, 3)}, [1], Bounds(depth=2, total=9))

    assert [(each.page_id.int, each.depth, each.weight) for each in found] == [(2, 1, 3.0), (3, 2, 1.5)]


def test_a_page_in_between_with_many_links_weighs_less() -> None:
    narrow = reached({(1, 2), (2, 3)}, [1], Bounds(depth=2, total=99))
    wide = reached({(1, 2), (2, 3)} | {(2, n) for n in range(10, 30)}, [1], Bounds(depth=2, total=99))

    assert {e.page_id.int: e.weight for e in wide}[3] < {e.page_id.int: e.weight for e in narrow}[3]


def test_equal_weights_follow_the_rank_of_their_seed_then_the_id() -> None:
    assert numbers(reached({(1, 9), (2, 7), (2, 8)}, [2, 1], Bounds(depth=1, total=9))) == [7, 8, 9]
    assert numbers(reached({(1, 9), (2, 7), (2, 8)}, [1, 2], Bounds(depth=1, total=9))) == [9, 7, 8]


def test_depth_0_reaches_nothing_and_reads_nothing() -> None:
    table = LinkTable({(1, 2)})

    assert asyncio.run(walk(table, [UUID(int=1)], (), Bounds(depth=0, total=9))) == ()
    assert table.reads == []


def test_a_page_that_lists_others_is_not_walked_through_and_ranks_behind_pages_with_content() -> None:
    found = reached({(1, 5), (5, 6), (1, 2)}, [1], Bounds(depth=2, total=9), hubs=[5])

    assert [(each.page_id.int, each.weight) for each in found] == [(2, 3.0), (5, HUB_WEIGHT * 3.0)]


def test_a_seed_that_lists_others_is_not_walked_through() -> None:
    assert reached({(1, 2)}, [1], Bounds(depth=2, total=9), hubs=[1]) == []


def test_a_page_beyond_the_degree_limit_is_not_walked_through() -> None:
    edges = {(1, n) for n in range(2, 8)}

    assert reached(edges, [1], Bounds(depth=1, total=9, degree_limit=5)) == []
    assert len(reached(edges, [1], Bounds(depth=1, total=9, degree_limit=6))) == 6


def test_fan_out_keeps_the_strongest_links_of_a_page() -> None:
    edges = {(1, n) for n in range(2, 8)} | {(7, 1)}

    assert numbers(reached(edges, [1], Bounds(depth=1, total=9, fan_out=3))) == [7, 2, 3]


def test_no_second_step_is_read_when_the_first_fills_the_total() -> None:
    table = LinkTable({(1, 2), (1, 3), (2, 4)})

    found = asyncio.run(walk(table, [UUID(int=1)], (), Bounds(depth=2, total=2)))

    assert numbers(found) == [2, 3]
    assert table.reads == [[1]]


@given(
    st.sets(st.tuples(st.integers(1, 15), st.integers(1, 15)), max_size=60),
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
