"""Which shard is current, whatever a crash left."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.errors import InvalidInput
from shared.vectors.edge_folder import Current, SpaceFolder


@pytest.fixture
def folder(tmp_path: Path) -> SpaceFolder:
    folder = SpaceFolder(tmp_path, "space")
    for name in ("one", "two"):
        folder.generation(name).mkdir(parents=True)
    return folder


def test_a_space_that_was_never_switched_to_has_no_current_shard(folder: SpaceFolder) -> None:
    assert folder.current() is None


def test_the_last_switch_counts(folder: SpaceFolder) -> None:
    folder.switch(Current("one", 8))
    folder.switch(Current("two", 8, points=5, indexed=9))
    assert folder.current() == Current("two", 8, points=5, indexed=9)


def test_a_switch_that_was_cut_short_changes_nothing(folder: SpaceFolder) -> None:
    folder.switch(Current("one", 8))
    (folder.path / "CURRENT.new").write_text('{"generation": "tw')
    assert folder.current() == Current("one", 8)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"generation": "one"}', '{"generation": "one", "dimension": "x"}']
)
def test_a_damaged_pointer_says_what_to_do(folder: SpaceFolder, text: str) -> None:
    (folder.path / "CURRENT").write_text(text)
    with pytest.raises(InvalidInput, match="delete that folder and start again"):
        folder.current()


def test_leftovers_go_and_the_current_shard_stays(folder: SpaceFolder) -> None:
    folder.switch(Current("one", 8))
    folder.remove_leftovers(folder.current())
    assert [entry.name for entry in folder.path.iterdir() if entry.is_dir()] == ["one"]


def test_new_shards_have_new_names(folder: SpaceFolder) -> None:
    assert folder.generation() != folder.generation()


@pytest.mark.parametrize("name", ["", "..", "a/b", "A", "a b", "-a", "a" * 129, "CURRENT"])
def test_a_name_that_is_no_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="can't name a space"):
        SpaceFolder(tmp_path, name)
