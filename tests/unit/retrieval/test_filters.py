"""What a request's filters mean, and what is refused."""

from __future__ import annotations

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from services.retrieval.filter_conditions import MAX_CHARS, MAX_CONDITIONS, MAX_VALUES
from services.retrieval.filters import MAX_DEPTH, on_pages, point_filter, request_filter
from shared.errors import InvalidInput, TooLarge
from shared.vectors.filter import EVERYTHING, NOTHING, All, AnyOf, FieldExists, FieldIn, FieldRange, Not, PointFilter
from shared.vectors.payload import stored_filter
from shared.vectors.store import KEYWORD_FIELDS
from tests.fakes.filter_matching import matches
from tests.unit.retrieval.scene import page, scene, titles

SCALARS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=3), st.integers(0, 3), st.booleans()
)

X = FieldIn("area", ("x",))
Y = FieldIn("area", ("y",))


def read(filters: object) -> PointFilter:
    """Return a request's filters in their simplest form."""
    return stored_filter(request_filter(cast("dict[str, JsonValue]", filters)))


@pytest.mark.parametrize(
    ("filters", "where"),
    [
        ({}, EVERYTHING),
        ({"area": "x"}, X),
        ({"area": ["x", "y"]}, FieldIn("area", ("x", "y"))),
        ({"level": 3}, FieldIn("level", (3,))),
        ({"confidence": 0.8}, FieldIn("confidence", ("0.8",))),
        ({"area": {"any": ["x", "y"]}}, FieldIn("area", ("x", "y"))),
        ({"area": {"any": "x"}}, X),
        ({"area": {"all": ["x", "y"]}}, All((X, Y))),
        ({"area": {"none": ["x", "y"]}}, Not(FieldIn("area", ("x", "y")))),
        ({"area": {"not": "x"}}, Not(X)),
        ({"level": {"exists": True}}, FieldExists("level")),
        ({"level": {"exists": False}}, Not(FieldExists("level"))),
        ({"path": {"prefix": "wiki/concepts/"}}, FieldIn("path_prefixes", ("wiki/concepts/",))),
        ({"path": {"prefix": ["wiki/", "raw/"]}}, FieldIn("path_prefixes", ("wiki/", "raw/"))),
        ({"confidence": {"gte": 0.5, "lt": 1}}, FieldRange("confidence", "number", gte=0.5, lt=1.0)),
        ({"last_verified": {"gt": "2025-01-01"}}, FieldRange("last_verified", "date", gt=1735689600.0)),
        (
            {"period": {"lte": "2025-01-01T01:00:00+01:00", "gte": "1970-01-01 00:00:01"}},
            FieldRange("period", "date", gte=1.0, lte=1735689600.0),
        ),
        ({"area": {"any": "x", "not": "y", "exists": True}}, All((X, Not(Y), FieldExists("area")))),
        ({"area": "x", "level": {"gt": 1}}, All((X, FieldRange("level", "number", gt=1.0)))),
        ({"and": [{"area": "x"}, {"area": "y"}]}, All((X, Y))),
        ({"or": [{"area": "x"}, {"area": "y"}]}, AnyOf((X, Y))),
        ({"not": {"area": "x"}}, Not(X)),
        ({"not": {"area": "x", "not": {"area": "y"}}}, Not(All((X, Not(Y))))),
        ({"not": {"not": {"area": "x"}}}, X),
        ({"area": []}, NOTHING),
        ({"area": {"any": []}}, NOTHING),
        ({"area": {"all": []}}, NOTHING),
        ({"area": {"none": []}}, EVERYTHING),
        ({"path": {"prefix": []}}, NOTHING),
        ({"and": []}, NOTHING),
        ({"or": []}, NOTHING),
        ({"or": [{"area": []}, {"area": "x"}]}, X),
        ({"not": {"or": []}}, EVERYTHING),
    ],
)
def test_every_form_means_one_filter(filters: object, where: PointFilter) -> None:
    assert read(filters) == where


@given(st.text(max_size=20).filter(lambda name: name not in (*KEYWORD_FIELDS, "and", "or", "not")))
def test_an_unknown_field_is_an_error_that_names_the_fields(name: str) -> None:
    for filters in ({name: "x"}, {"not": {name: "x"}}, {"or": [{"area": "x"}, {name: {"exists": True}}]}):
        with pytest.raises(InvalidInput, match="Fields: vault_id, page_id, path"):
            read(filters)


@pytest.mark.parametrize("value", [None, {}, {"a": 1}, [None], [["x"]], [{}], float("nan"), 10**400, {"any": {}}])
def test_a_value_that_no_field_can_have_is_an_error(value: object) -> None:
    with pytest.raises(InvalidInput, match="'level'"):
        read({"level": value})


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (
            {"level": {"over": 3}},
            "no operator 'over'. Operators: any, all, none, not, gt, gte, lt, lte, exists, prefix",
        ),
        ({"level": {}}, "no operator. Operators: any, all"),
        ({"level": {"exists": 1}}, "'level' takes true or false after 'exists'"),
        ({"level": {"gte": "3"}}, "takes a number or a date after 'gte', the date as text in ISO 8601"),
        ({"level": {"gte": "2025-02-30"}}, "takes a number or a date after 'gte'"),
        ({"level": {"gte": True}}, "takes a number or a date after 'gte'"),
        ({"level": {"gte": [1]}}, "takes a number or a date after 'gte'"),
        ({"level": {"gte": None}}, "takes a number or a date after 'gte'"),
        ({"level": {"gte": float("inf")}}, "takes a number or a date after 'gte'"),
        ({"level": {"gte": 10**400}}, "takes a number or a date after 'gte'"),
        ({"period": {"gte": 2024, "lt": "2025-01-01"}}, "'period' is between a number and a date"),
        ({"title": {"gte": 1}}, "'title' has no gte; these have: level, confidence, period, last_verified"),
        ({"title": {"prefix": "A/"}}, "'title' has no 'prefix'; only 'path' has"),
        ({"path": {"prefix": "wiki/con"}}, "with a slash at their end, such as \"wiki/concepts/\"; not 'wiki/con'"),
        ({"path": {"prefix": ""}}, "with a slash at their end"),
        ({"path": {"prefix": "/wiki/"}}, "relative to the vault"),
        ({"path": {"prefix": 3}}, "takes folders after 'prefix'"),
        ({"and": {"area": "x"}}, "'and' takes a list of objects of conditions"),
        ({"or": ["area"]}, "'or' takes a list of objects of conditions"),
        ({"or": [{"area": "x"}, {}]}, "'or' takes a list of objects of conditions, none of them empty"),
        ({"not": {}}, "'not' takes an object of conditions, none of them empty"),
        ({"not": [{"area": "x"}]}, "'not' takes an object of conditions"),
        ({"area": "a\0b"}, "a character that no text can hold"),
        ({"area": ["\ud800"]}, "a character that no text can hold"),
    ],
)
def test_what_is_not_understood_is_an_error_that_says_what_is_allowed(condition: object, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(condition)
    assert message in str(refused.value)


def nested(levels: int) -> object:
    filters: object = {"area": "x"}
    for _ in range(levels):
        filters = {"not": filters}
    return filters


def test_what_is_beyond_a_limit_is_an_error_that_names_the_limit() -> None:
    with pytest.raises(TooLarge, match="257 values; at most 256"):
        read({"tags": list(range(MAX_VALUES + 1))})
    with pytest.raises(TooLarge, match="deeper than 8 levels"):
        read(nested(MAX_DEPTH + 1))
    with pytest.raises(TooLarge, match="65 conditions; at most 64"):
        read({"or": [{"area": "x"}] * (MAX_CONDITIONS + 1)})
    with pytest.raises(TooLarge, match="65 conditions; at most 64"):
        read({"tags": {"all": [str(tag) for tag in range(MAX_CONDITIONS + 1)]}})
    with pytest.raises(TooLarge, match="4097 characters; at most 4096"):
        read({"title": "x" * (MAX_CHARS + 1)})


def test_what_is_at_the_limit_is_allowed() -> None:
    read({"tags": list(range(MAX_VALUES)), "title": "x" * MAX_CHARS})
    read(nested(MAX_DEPTH))
    read({"or": [{"area": "x"}] * MAX_CONDITIONS})


@given(st.dictionaries(st.sampled_from(KEYWORD_FIELDS[4:]), st.one_of(SCALARS, st.lists(SCALARS, max_size=3))), SCALARS)
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
