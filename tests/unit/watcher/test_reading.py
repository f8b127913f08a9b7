"""Reading a file that may change meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

from services.ingest.watcher.reading import Content, Missing, Unreadable, Unstable, read_file
from shared.ids import content_hash
from tests.unit.watcher.vault import as_nobody


def test_a_file_that_stands_still_is_read_whole(tmp_path: Path):
    file = tmp_path / "a.md"
    file.write_bytes(b"text")
    status = file.stat()
    assert read_file(str(file), 4) == Content(b"text", content_hash(b"text"), status.st_mtime_ns, status.st_ino)


def test_an_empty_file_is_content(tmp_path: Path):
    file = tmp_path / "a.md"
    file.touch()
    reading = read_file(str(file), 10)
    assert isinstance(reading, Content)
    assert reading.data == b""


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path):
    file = tmp_path / "a.md"
    file.write_bytes(b"12345")
    reading = read_file(str(file), 4)
    assert isinstance(reading, Unreadable)
    assert reading.size == 5


def test_a_missing_file_a_folder_and_a_pipe_are_missing(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("nothing", "nothing/below", "", "pipe"):
        assert read_file(f"{tmp_path}/{name}", 10) == Missing()


def test_a_file_without_permission_says_so():
    with as_nobody() as base:
        file = base / "a.md"
        file.write_bytes(b"text")
        file.chmod(0)
        reading = read_file(str(file), 10)
    assert isinstance(reading, Unreadable)
    assert reading.reason == "no permission to read the file"


class _GrowingFile:
    """A file that is never as large as its stat says (one of /proc), until the reader has paused `times` times."""

    def __init__(self, path: Path, times: int) -> None:
        self.path = path
        self.left = times
        self.pauses = 0
        path.symlink_to("/proc/self/status")

    def pause(self, _: float) -> None:
        self.pauses += 1
        self.left -= 1
        if self.left <= 0:
            self.path.unlink()
            self.path.write_bytes(b"still")


def test_a_file_that_settles_is_read_again(tmp_path: Path):
    file = tmp_path / "a.md"
    growing = _GrowingFile(file, times=2)
    reading = read_file(str(file), 100, growing.pause)
    assert isinstance(reading, Content)
    assert reading.data == b"still"
    assert growing.pauses == 2


def test_a_file_that_never_settles_is_left_to_the_next_event(tmp_path: Path):
    file = tmp_path / "a.md"
    growing = _GrowingFile(file, times=100)
    assert read_file(str(file), 100, growing.pause) == Unstable()
    assert growing.pauses == 2
