"""The context is taken apart into the passages that the citations name, and hits of vaults are merged by similarity."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deploy.embedded.cli.excerpt import excerpt
from deploy.embedded.cli.hits import merged, place, split_context
from deploy.embedded.cli.screen import printable, wrapped
from tests.unit.cli.fakes import citation, search_reply

LINE = st.text(st.characters(exclude_characters="[\n", exclude_categories=("Cs", "Cc")), min_size=1, max_size=30)


@given(st.lists(st.tuples(LINE, st.lists(LINE, min_size=1, max_size=4)), max_size=12))
def test_every_passage_is_found_under_its_number(entries: list[tuple[str, list[str]]]) -> None:
    passages = [(title, "\n".join(lines)) for title, lines in entries]
    text = "\n\n".join(f"[{n}] {title}\n{passage}" for n, (title, passage) in enumerate(passages, start=1))
    assert split_context(text, len(entries)) == {n: passage for n, (_, passage) in enumerate(passages, start=1)}


def test_ten_and_more_are_not_taken_for_one() -> None:
    text = "\n\n".join(f"[{n}] T{n}\npassage {n}" for n in range(1, 13))
    assert split_context(text, 12)[11] == "passage 11"


def test_a_missing_entry_costs_only_itself() -> None:
    assert split_context("[1] A\none\n\n[3] C\nthree", 3) == {1: "one", 3: "three"}


def test_hits_of_several_vaults_come_by_similarity_and_those_without_one_last() -> None:
    replies = {
        "b": search_reply(citation(1, "far", 0.2), citation(2, "words", None)),
        "a": search_reply(citation(1, "near", 0.9), citation(2, "middle", 0.5)),
    }
    assert [hit.citation.ref.title for hit in merged(replies)] == ["near", "middle", "far", "words"]


def test_hits_of_one_vault_keep_the_order_of_the_reply() -> None:
    reply = search_reply(citation(1, "first", 0.2), citation(2, "second", 0.9))
    assert [hit.citation.ref.title for hit in merged({"a": reply})] == ["first", "second"]


def test_the_last_line_of_a_place_is_inside_the_passage() -> None:
    assert place(citation(1, "Tides", 0.5)) == "wiki/Tides.md:12-30"


def test_several_passages_of_a_page_are_all_in_its_place() -> None:
    one = citation(1, "Tides", 0.5).passages[0]
    two = one.model_copy(update={"line_start": 40, "line_end": 41})
    assert place(citation(1, "Tides", 0.5, passages=(one, two))) == "wiki/Tides.md:12-30,40"


def test_the_lines_that_are_shown_are_those_with_the_questions_words() -> None:
    lines = ["words of no use"] * 10 + ["Launch of a glider: 12 m/s"] + ["more words"] * 10
    shown = excerpt(lines, "Up to what wind may gliders be launched?", 4)
    assert 10 in shown
    assert len(shown) == 4


@given(st.lists(LINE, max_size=30), LINE, st.integers(1, 12))
def test_an_excerpt_is_as_long_as_asked_or_the_whole(lines: list[str], query: str, count: int) -> None:
    shown = excerpt(lines, query, count)
    assert len(shown) == min(count, len(lines))
    assert [lines[index] for index in shown] == lines[shown.start : shown.stop]


def test_without_a_common_word_the_beginning_is_shown() -> None:
    assert excerpt(["a", "b", "c", "d"], "zebra", 2) == range(2)


@given(st.text(), st.integers(20, 120))
def test_no_wrapped_line_is_longer_than_asked(text: str, width: int) -> None:
    assert all(len(line) <= width for line in wrapped(text, width))


def test_a_vault_cannot_steer_the_terminal() -> None:
    assert printable("a\x1b[31mb\x07\x9bc\td\n") == "a[31mbc\td\n"
