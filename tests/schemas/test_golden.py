"""One realistic sample of every message, from every release: read by today's code as it was written then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from deploy.documents.schemas import message_types, schema, type_name
from shared.contracts.message import Message

GOLDEN = Path(__file__).parent / "golden"
SAMPLES = sorted(GOLDEN.glob("v*/*.json"))
TYPES = {type_name(message) or "": message for message in message_types()}

each_sample = pytest.mark.parametrize("path", SAMPLES, ids=lambda path: f"{path.parts[-2]}-{path.stem}")


def read(path: Path) -> tuple[type[Message], dict[str, Any]]:
    """The class that the sample is of, and the sample."""
    return TYPES[path.stem], json.loads(path.read_text(encoding="utf-8"))


def only_required(value: Any, node: dict[str, Any], root: dict[str, Any]) -> Any:
    """The smallest message that an old writer may have sent: every optional field left out, at every depth."""
    node = root["$defs"][node["$ref"].rsplit("/", 1)[-1]] if "$ref" in node else node
    if isinstance(value, list):
        return [only_required(item, node.get("items", {}), root) for item in value]
    if not isinstance(value, dict) or "properties" not in node:
        return value
    return {name: only_required(value[name], node["properties"][name], root) for name in node.get("required", [])}


@each_sample
def test_a_sample_survives_reading_and_writing(path: Path) -> None:
    message, sample = read(path)
    assert json.loads(message.model_validate(sample).to_json()) == sample


@each_sample
def test_a_sample_shows_every_field_of_its_release(path: Path) -> None:
    _, sample = read(path)
    released = json.loads((path.parent / "schemas" / path.name).read_text(encoding="utf-8"))
    assert set(sample) == set(released["properties"])


@each_sample
def test_a_sample_without_its_optional_fields_is_still_accepted(path: Path) -> None:
    message, sample = read(path)
    released = json.loads((path.parent / "schemas" / path.name).read_text(encoding="utf-8"))
    message.model_validate(only_required(sample, released, released))


@each_sample
def test_unknown_fields_are_ignored(path: Path) -> None:
    message, sample = read(path)
    assert message.model_validate({**sample, "of_a_later_version": {"x": 1}}) == message.model_validate(sample)


@each_sample
def test_a_message_of_another_type_is_refused(path: Path) -> None:
    message, sample = read(path)
    with pytest.raises(ValidationError):
        message.model_validate({**sample, "type": "citebus.something.else.v1"})


@each_sample
def test_a_message_does_not_change_after_it_was_made(path: Path) -> None:
    message, sample = read(path)
    made = message.model_validate(sample)
    with pytest.raises(ValidationError):
        made.__setattr__(next(iter(sample)), None)


def test_every_message_has_a_sample_in_the_newest_release_that_knows_it() -> None:
    assert {path.stem for path in SAMPLES} == set(TYPES)


def test_a_sample_with_a_missing_required_field_is_refused() -> None:
    for name, message in TYPES.items():
        _, sample = read(next(path for path in SAMPLES if path.stem == name))
        for field in set(schema(message)["required"]) - {"type"}:
            with pytest.raises(ValidationError):
                message.model_validate({key: value for key, value in sample.items() if key != field})
