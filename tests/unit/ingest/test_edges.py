from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from services.ingest.edges import EdgeRules, GraphTraits, affinities, affinity, marks

A, B, C, D = (UUID(int=number) for number in range(1, 5))
PAGE = GraphTraits("page", "entity", frozenset({"s"}), frozenset({B}))


def test_a_page_that_says_the_same_marks_nothing() -> None:
    assert marks({A: PAGE}, {A: replace(PAGE, targets=frozenset({B}))}, []) == set()


def test_a_changed_link_marks_the_page_and_both_targets_but_not_what_stays_linked() -> None:
    before = replace(PAGE, targets=frozenset({B, D}))
    after = replace(PAGE, targets=frozenset({C, D}))

    assert marks({A: before}, {A: after}, []) == {A, B, C}


@pytest.mark.parametrize("change", [{"stem": "index"}, {"page_type": None}, {"sources": frozenset[str]()}])
def test_a_changed_name_type_or_source_marks_the_page_alone(change: dict[str, object]) -> None:
    assert marks({A: PAGE}, {A: replace(PAGE, **change)}, []) == {A}  # type: ignore[arg-type]


def test_a_page_that_comes_or_goes_marks_itself_and_what_it_links_to() -> None:
    assert marks({}, {A: PAGE}, []) == {A, B}
    assert marks({A: PAGE}, {}, []) == {A, B}


def test_links_of_others_mark_both_ends_when_they_mean_another_page() -> None:
    assert marks({}, {}, [(A, None, B)]) == {A, B}
    assert marks({}, {}, [(A, B, C)]) == {A, B, C}
    assert marks({}, {}, [(A, B, B), (A, None, None)]) == set()


def test_affinity_does_not_depend_on_the_order_and_knows_five_types() -> None:
    assert affinity("concept", "entity") == affinity("entity", "concept") == 1.2
    assert affinity("synthesis", "concept") == 1.2
    assert affinity("query", "entity") == affinity("synthesis", "synthesis") == 0.8
    assert affinity("source", "source") == affinity("query", "query") == 0.5
    assert affinity("source", "concept") == affinity("entity", "synthesis") == 1.0
    assert affinity("recipe", "recipe") == affinity(None, "entity") == affinity("entity", None) == 0.0
    assert len(affinities()) == 25


def test_other_limits_are_other_rules() -> None:
    rules = EdgeRules()
    others = [replace(rules, degree_limit=9), replace(rules, source_limit=9), replace(rules, generated_stems=("toc",))]

    assert len({rule.fingerprint() for rule in [rules, *others]}) == 4
    assert replace(rules, generated_stems=("overview", "log", "index")).fingerprint() == rules.fingerprint()
