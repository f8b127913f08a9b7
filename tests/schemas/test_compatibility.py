"""Every release's messages are still understood, and the judge of that can say no."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from deploy.documents.schemas import message_types, schema, type_name
from tests.schemas.compatibility import breaks

GOLDEN = Path(__file__).parent / "golden"
RELEASED = sorted(GOLDEN.glob("v*/schemas/*.json"))
NOW = {f"{type_name(message)}.json": schema(message) for message in message_types()}


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_programs_written_against_a_released_schema_still_work(path: Path) -> None:
    assert path.name in NOW, f"{path.stem} is gone: a message lives as long as its major version"
    found = breaks(json.loads(path.read_text()), NOW[path.name])
    assert not found, f"{path.stem} breaks what was released; make a v2 of the message, or undo: {found}"


OLD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "k": {"type": "integer", "minimum": 1, "maximum": 50},
        "state": {"enum": ["on", "off"], "type": "string"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "part": {"$ref": "#/$defs/Part"},
    },
    "required": ["k", "state"],
    "$defs": {"Part": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}},
}


def changed(*path: str, to: Any) -> dict[str, Any]:
    """OLD with one place set to another value; None removes it."""
    copy = deepcopy(OLD)
    place = copy
    for step in path[:-1]:
        place = place[step]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return copy


BREAKING = {
    "a field goes": changed("properties", "note", to=None),
    "an optional field becomes required": changed("required", to=["k", "state", "note"]),
    "a required field becomes optional": changed("required", to=["k"]),
    "a lower bound rises": changed("properties", "k", "minimum", to=2),
    "an upper bound falls": changed("properties", "k", "maximum", to=20),
    "an upper bound appears": changed("properties", "state", "maxLength", to=2),
    "a type changes": changed("properties", "k", "type", to="number"),
    "a value goes": changed("properties", "state", "enum", to=["on"]),
    "a value comes": changed("properties", "state", "enum", to=["on", "off", "idle"]),
    "null is refused": changed("properties", "note", to={"type": "string"}),
    "a part demands more": changed("$defs", "Part", "required", to=["id", "title"]),
}
HARMLESS = {
    "nothing": OLD,
    "an optional field comes": changed("properties", "more", to={"type": "string"}),
    "an upper bound rises": changed("properties", "k", "maximum", to=100),
    "words change": changed("properties", "k", "description", to="How many."),
}


@pytest.mark.parametrize("new", BREAKING.values(), ids=BREAKING.keys())
def test_a_breaking_change_is_seen(new: dict[str, Any]) -> None:
    assert len(breaks(OLD, new)) == 1


@pytest.mark.parametrize("new", HARMLESS.values(), ids=HARMLESS.keys())
def test_a_harmless_change_passes(new: dict[str, Any]) -> None:
    assert breaks(OLD, new) == []
