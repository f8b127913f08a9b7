from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from services.retrieval.filters import MAX_VALUES, on_pages, point_filter
from shared.errors import InvalidInput, TooLarge
from shared.vectors.store import KEYWORD_FIELDS, FieldIn
from tests.fakes.in_memory_vector_store import matches
from tests.unit.retrieval.scene import page, scene, titles

SCALARS = st.one_of(st.text(max_size=3), st.integers(0, 3), st.booleans())


@given(st.text(max_size=20).filter(lambda name: name not in KEYWORD_FIELDS))
def test_an_unknown_field_is_an_error_that_names_the_fields(name: str) -> None:
    with pytest.raises(InvalidInput, match="Fields: vault_id, page_id, path"):
        point_filter("v", {name: "x"}, ())


@pytest.mark.parametrize("value", [None, {}, {"a": 1}, [None], [["x"]], [{}]])
def test_a_value_that_no_field_can_have_is_an_error(value: object) -> None:
    with pytest.raises(InvalidInput, match="'level'"):
        point_filter("v", {"level": value}, ())  # pyright: ignore[reportArgumentType]


def test_too_many_values_are_an_error() -> None:
    with pytest.raises(TooLarge, match="257 values"):
        point_filter("v", {"tags": list(range(MAX_VALUES + 1))}, ())


def test_a_number_with_a_fraction_is_compared_as_json_writes_it() -> None:
    assert point_filter("v", {"confidence": 0.8}, ()).must[1] == FieldIn("confidence", ("0.8",))


@given(st.dictionaries(st.sampled_from(KEYWORD_FIELDS[5:]), st.one_of(SCALARS, st.lists(SCALARS, max_size=3))), SCALARS)
def test_nothing_passes_that_one_condition_does_not_name(filters: dict[str, JsonValue], value: str | int) -> None:
    where = point_filter("v", filters, ())
    payload = {"vault_id": "v", **{name: str(value).lower() for name in filters}}

    allowed = [entries if isinstance(entries, list) else [entries] for entries in filters.values()]
    expected = all(str(value).lower() in {str(entry).lower() for entry in entries} for entries in allowed)
    if matches(payload, where):
        assert expected


def test_another_vault_never_passes_whatever_the_request_asks() -> None:
    where = point_filter("mine", {"vault_id": ["mine", "theirs"]}, ())

    assert matches({"vault_id": "mine"}, where)
    assert not matches({"vault_id": "theirs"}, where)


def test_pages_that_are_never_cited_do_not_pass() -> None:
    where = point_filter("v", {}, ("raw/",))

    assert not matches({"vault_id": "v", "path_prefixes": ["raw/", "raw/a/"]}, where)
    assert matches({"vault_id": "v", "path_prefixes": ["wiki/", "wiki/raw/"]}, where)


def test_no_pages_let_nothing_pass() -> None:
    assert not matches({"vault_id": "v", "page_id": "1"}, on_pages(point_filter("v", {}, ()), []))


async def test_an_empty_list_matches_nothing() -> None:
    garden = await scene(page("wiki/rose.md", "the rose"))

    assert (await garden.search("rose", filters={"tags": []})).citations == ()


@pytest.mark.parametrize("profile", ["dense", "sparse", "hybrid"])
async def test_the_same_filter_binds_vector_lexical_and_graph_hits(profile: str) -> None:
    garden = await scene(
        page("wiki/rose.md", "the rose blooms", area="bed", links=("wiki/pond.md", "wiki/lily.md")),
        page("wiki/pond.md", "water for the rose", area="pond"),
        page("wiki/lily.md", "quite another flower, a rose", area="bed"),
        page("wiki/tulip.md", "rose rose rose", area="field"),
    )
    reply = await garden.search("rose blooms", profile=profile, filters={"area": "bed"}, k=1)

    assert titles(reply) == ["rose", "lily"]
    assert [citation.phase for citation in reply.citations] == ["vector", "expansion"]
