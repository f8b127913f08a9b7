"""The watcher's memory on disk."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from uuid import uuid4

import pytest

from services.ingest.watcher.files import Change, Known
from services.ingest.watcher.manifest import Manifest
from shared.errors import Unavailable
from shared.ids import content_hash


def known(path: str, *, change: Change = "present", at_s: float = 0.0) -> Known:
    return Known(path, path, 1, 2, 3, content_hash(path), uuid4(), change, at_s=at_s)


def test_what_was_applied_is_there_after_a_restart(tmp_path: Path):
    row = Known("é.md", os.fsdecode(b"\xff.md"), 5, None, 2**64 - 1, None, uuid4(), "unreadable", "why", False, 1.5)
    with Manifest(tmp_path / "state" / "m.sqlite3") as manifest:
        manifest.apply([row], facts=[("log", "x")])
    with Manifest(tmp_path / "state" / "m.sqlite3") as manifest:
        assert manifest.get("é.md") == row
        assert manifest.fact("log") == "x"
        assert manifest.get("other") is None
        assert manifest.fact("other") is None


def test_below_a_folder_is_what_begins_with_its_path_and_a_slash(tmp_path: Path):
    with Manifest(tmp_path / "m") as manifest:
        manifest.apply([known(path) for path in ("a.md", "a/1", "a/b/2", "a b/3", "a0/4", "b/a/5", "é/6")])
        manifest.apply([known("a/gone", change="removed")])
        assert [row.path for row in manifest.below("a")] == ["a/1", "a/b/2"]
        assert len(manifest.below("")) == manifest.count() == 7


def test_a_page_has_one_row(tmp_path: Path):
    old = known("old.md")
    with Manifest(tmp_path / "m") as manifest:
        manifest.apply([old])
        manifest.apply([old._replace(path="new.md")])
        assert [row.path for row in manifest.below("")] == ["new.md"]
        assert manifest.holders(old.page_id) == ["new.md"]


def test_rows_can_swap_their_pages(tmp_path: Path):
    a, b = known("a.md"), known("b.md")
    with Manifest(tmp_path / "m") as manifest:
        manifest.apply([a, b])
        manifest.apply([a._replace(page_id=b.page_id), b._replace(page_id=a.page_id)])
        assert {row.path: row.page_id for row in manifest.below("")} == {"a.md": b.page_id, "b.md": a.page_id}


def test_removed_rows_are_kept_for_a_while(tmp_path: Path):
    with Manifest(tmp_path / "m") as manifest:
        manifest.apply([known("a.md", change="removed", at_s=10), known("b.md", change="removed", at_s=20)])
        assert [row.path for row in manifest.removed_since(15)] == ["b.md"]
        manifest.forget_removed(15)
        assert manifest.get("a.md") is None
        assert manifest.get("b.md") is not None


def test_all_or_nothing_is_applied(tmp_path: Path):
    broken = known("b.md")._replace(size="no number", mtime_ns=object())  # pyright: ignore[reportArgumentType]
    with Manifest(tmp_path / "m") as manifest:
        with pytest.raises(Unavailable):
            manifest.apply([known("a.md"), broken])
        assert manifest.count() == 0


@pytest.mark.parametrize("damage", [b"", b"no database " * 1000])
def test_a_file_that_is_no_manifest_is_made_anew(tmp_path: Path, damage: bytes):
    (tmp_path / "m").write_bytes(damage)
    with Manifest(tmp_path / "m") as manifest:
        manifest.apply([known("a.md")])
        assert manifest.count() == 1


def test_a_damaged_manifest_is_made_anew(tmp_path: Path):
    file = tmp_path / "m"
    with Manifest(file) as manifest:
        manifest.apply([known(f"{number}.md") for number in range(2000)])
    data = bytearray(file.read_bytes())
    data[4096 * 3 : 4096 * 20] = os.urandom(4096 * 17)
    file.write_bytes(data)
    with Manifest(file) as manifest:
        assert manifest.count() == 0


def test_a_manifest_of_another_version_is_made_anew(tmp_path: Path):
    connection = sqlite3.connect(tmp_path / "m")
    connection.executescript("CREATE TABLE files (path TEXT); PRAGMA user_version = 99;")
    connection.close()
    with Manifest(tmp_path / "m") as manifest:
        assert manifest.count() == 0


def test_a_folder_that_can_t_be_made_is_an_error_that_says_what_to_do(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="state folder"):
        Manifest(tmp_path / "file" / "m")


def test_a_closed_manifest_is_unavailable(tmp_path: Path):
    manifest = Manifest(tmp_path / "m")
    manifest.close()
    with pytest.raises(Unavailable):
        manifest.get("a.md")
