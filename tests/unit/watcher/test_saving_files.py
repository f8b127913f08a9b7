"""A saved page is written whole or not at all, within the vault, and through no link."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ingest.watcher.saving_files import read_page, write_page
from services.ingest.watcher.saving_names import checked_path
from services.ingest.watcher.selection import Selection
from shared.contracts.files import VaultSettings
from shared.errors import InvalidInput, Unavailable

PATH = "wiki/queries/a.md"


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder beside the vault."""
    return tmp_path_factory.mktemp("outside")


def write(root: Path, content: bytes = b"new", *, replace: bool = False) -> None:
    write_page(str(root), PATH, content, replace=replace)


def names(root: Path) -> list[str]:
    return sorted(str(file.relative_to(root)) for file in root.rglob("*") if file.is_file())


def test_a_page_appears_with_its_folders_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path)
    assert names(tmp_path) == [PATH]
    assert read_page(str(tmp_path), PATH, 100) == b"new"


def test_a_name_that_is_taken_stays_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    write(tmp_path, b"old")
    with pytest.raises(InvalidInput, match="another file has this name"):
        write(tmp_path)
    assert read_page(str(tmp_path), PATH, 100) == b"old"
    write(tmp_path, replace=True)
    assert read_page(str(tmp_path), PATH, 100) == b"new"
    assert names(tmp_path) == [PATH]


@pytest.mark.parametrize("part", ["wiki", "wiki/queries"])
def test_a_folder_that_is_a_link_is_not_followed(tmp_path: Path, outside: Path, part: str) -> None:
    (tmp_path / part).parent.mkdir(exist_ok=True)
    (tmp_path / part).symlink_to(outside)
    with pytest.raises(InvalidInput, match="link"):
        write(tmp_path)
    assert names(outside) == []


def test_a_page_that_is_a_link_is_not_read(tmp_path: Path, outside: Path) -> None:
    (outside / "a.md").write_text("secret")
    (tmp_path / "wiki/queries").mkdir(parents=True)
    (tmp_path / PATH).symlink_to(outside / "a.md")
    with pytest.raises(InvalidInput, match="link"):
        read_page(str(tmp_path), PATH, 100)
    with pytest.raises(InvalidInput):
        write(tmp_path)
    assert (outside / "a.md").read_text() == "secret"


def test_a_temporary_name_that_is_a_link_is_not_written_through(tmp_path: Path, outside: Path) -> None:
    victim = outside / "victim"
    victim.write_text("safe")
    (tmp_path / "wiki/queries").mkdir(parents=True)
    (tmp_path / "wiki/queries/.a.md.citebus-tmp").symlink_to(victim)
    with pytest.raises(InvalidInput):
        write(tmp_path)
    assert victim.read_text() == "safe"


@pytest.mark.parametrize("kind", ["folder", "pipe", "large"])
def test_what_is_no_page_is_not_read(tmp_path: Path, kind: str) -> None:
    (tmp_path / "wiki/queries").mkdir(parents=True)
    if kind == "folder":
        (tmp_path / PATH).mkdir()
    elif kind == "pipe":
        os.mkfifo(tmp_path / PATH)
    else:
        (tmp_path / PATH).write_bytes(b"x" * 101)
    with pytest.raises(InvalidInput):
        read_page(str(tmp_path), PATH, 100)


def test_what_is_not_there_is_nothing(tmp_path: Path) -> None:
    assert read_page(str(tmp_path), PATH, 100) is None
    assert names(tmp_path) == []
    with pytest.raises(Unavailable):
        write(tmp_path / "gone")


def test_a_disk_that_is_full_leaves_no_half_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Unavailable, match="No space left"):
        write(tmp_path)
    assert names(tmp_path) == []


def test_a_file_system_without_second_names_keeps_what_is_there_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", no_links)
    write(tmp_path, b"old")
    with pytest.raises(InvalidInput, match="another file has this name"):
        write(tmp_path)
    assert read_page(str(tmp_path), PATH, 100) == b"old"
    assert names(tmp_path) == [PATH]


@given(st.text(alphabet="wiki/.ab\\~ :\x00é", min_size=1, max_size=40).map(lambda tail: f"wiki/{tail}.md"))
def test_a_path_that_is_accepted_stays_visible_below_the_folder(path: str) -> None:
    try:
        accepted = checked_path(path)
    except InvalidInput:
        return
    parts = accepted.split("/")
    assert os.path.normpath(accepted) == accepted
    assert parts[0] == "wiki"
    assert not any(part.startswith(".") or part != part.strip() for part in parts)
    assert Selection(VaultSettings(vault_id="notes")).reaches(accepted)
    assert Selection(VaultSettings(vault_id="notes")).takes_file(accepted)
