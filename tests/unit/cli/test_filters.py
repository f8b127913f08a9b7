"""What may stand behind --filter and --filter-json, and what the service makes of it."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from deploy.embedded.cli.filters import parse_filters
from services.retrieval.filters import point_filter
from shared.errors import InvalidInput
from tests.fakes.filter_matching import matches


@pytest.mark.parametrize(
    ("options", "filters"),
    [
        (["area=energy"], {"area": ["energy"]}),
        (["area=energy,diving"], {"area": ["energy", "diving"]}),
        (["area=energy", "area=diving"], {"area": ["energy", "diving"]}),
        (["area=energy", "tags=a"], {"area": ["energy"], "tags": ["a"]}),
        ([" area = energy , diving "], {"area": ["energy", "diving"]}),
        ([r"title=Salt\, pepper,Oil"], {"title": ["Salt, pepper", "Oil"]}),
        (["title=a=b"], {"title": ["a=b"]}),
        (["title=5>4?"], {"title": ["5>4?"]}),
        (["level=3"], {"level": ["3"]}),
        (["path=wiki/a.md"], {"path": ["wiki/a.md"]}),
        (["path=wiki/*"], {"path": {"prefix": ["wiki/"]}}),
        (["path^=wiki/,raw/"], {"path": {"prefix": ["wiki/", "raw/"]}}),
        (["confidence>=0.5"], {"confidence": {"gte": 0.5}}),
        (["confidence<1"], {"confidence": {"lt": 1.0}}),
        (["last_verified > 2025-01-01"], {"last_verified": {"gt": "2025-01-01"}}),
        (["last_verified<=2025-01-01"], {"last_verified": {"lte": "2025-01-01"}}),
        (["confidence>=0.5", "confidence<1"], {"and": [{"confidence": {"gte": 0.5}}, {"confidence": {"lt": 1.0}}]}),
        (["level?"], {"level": {"exists": True}}),
        (["!level?"], {"not": {"level": {"exists": True}}}),
        (["!area=ops"], {"not": {"area": ["ops"]}}),
        (["area!=ops,lab"], {"not": {"area": ["ops", "lab"]}}),
        (["!area!=ops"], {"area": ["ops"]}),
        (["area!=ops", "!level>2"], {"not": {"or": [{"area": ["ops"]}, {"level": {"gt": 2.0}}]}}),
        (["area=ops", "level?"], {"area": ["ops"], "and": [{"level": {"exists": True}}]}),
    ],
)
def test_options_become_the_filter_that_they_say(options: list[str], filters: dict[str, JsonValue]) -> None:
    assert parse_filters(options) == filters
    point_filter("v", filters, ())


@pytest.mark.parametrize("option", ["area", "=energy", " =x", "", "!", "?", "!=x", ">1", "a,b=c"])
def test_an_option_of_no_known_form_is_refused_with_the_forms(option: str) -> None:
    with pytest.raises(InvalidInput, match=r"area=ops,lab.*confidence>=0.5.*path=wiki/\*.*!level\?"):
        parse_filters([option])


@pytest.mark.parametrize("option", ["confidence>=", "area!=", "path^= ", "area=", "!area= "])
def test_an_operator_without_a_value_is_refused(option: str) -> None:
    with pytest.raises(InvalidInput, match="no value after"):
        parse_filters([option])


@pytest.mark.parametrize("option", ["path=*", "path=wiki*", "path=*/a.md", "path=wiki/*,raw/a.md", "path=wiki/**"])
def test_a_star_stands_for_a_folders_content_only(option: str) -> None:
    with pytest.raises(InvalidInput, match=r"path=wiki/\*"):
        parse_filters([option])


def test_all_options_must_hold_together() -> None:
    where = point_filter(None, parse_filters(["area=ops", "level>=2", "level<4", "!tags=old", "!period?"]), ())

    def passes(**payload: object) -> bool:
        return matches({"area": "ops", "level_number": 2.0, **payload}, where)

    assert passes()
    assert not passes(area="lab")
    assert not passes(level_number=4.0)
    assert not passes(tags=["new", "old"])
    assert not passes(period="2025")


def test_json_is_taken_as_it_is_and_binds_with_the_options() -> None:
    text = '{"or": [{"area": "ops"}, {"tags": {"all": ["a", "b"]}}]}'
    asked = {"or": [{"area": "ops"}, {"tags": {"all": ["a", "b"]}}]}
    assert parse_filters([], text) == asked
    assert parse_filters(["level=1"], text) == {"level": ["1"], "and": [asked]}


@pytest.mark.parametrize("text", ["", "{", "[1]", "1", "[" * 100_000])
def test_what_is_no_json_object_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="--filter-json"):
        parse_filters([], text)
