"""What is checked in is what the code generates."""

from __future__ import annotations

from pathlib import Path

from deploy.documents.files import documentation, outdated, schemas, write

ROOT = Path(__file__).parents[2]


def test_the_schemas_on_disk_are_those_of_the_contracts() -> None:
    assert outdated(schemas(), ROOT) == [], "run `make schemas` and look at what changed"


def test_the_reference_pages_on_disk_are_those_of_the_contracts() -> None:
    assert outdated(documentation(), ROOT) == [], "run `make docs` and look at what changed"


def test_writing_twice_changes_nothing_the_second_time(tmp_path: Path) -> None:
    assert write(schemas(), tmp_path) == sorted(schemas())
    assert write(schemas(), tmp_path) == []


def test_a_changed_and_a_left_over_schema_are_found_and_put_right(tmp_path: Path) -> None:
    write(schemas(), tmp_path)
    (tmp_path / "schemas" / "asyncapi.json").write_text("{}")
    (tmp_path / "schemas" / "citebus.gone.v1.json").write_text("{}")
    assert write(schemas(), tmp_path) == ["schemas/asyncapi.json", "schemas/citebus.gone.v1.json"]
    assert outdated(schemas(), tmp_path) == []


def test_writing_the_pages_leaves_the_schemas_alone(tmp_path: Path) -> None:
    write(schemas(), tmp_path)
    write(documentation(), tmp_path)
    assert outdated(schemas(), tmp_path) == []
