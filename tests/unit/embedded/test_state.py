"""The data folder keeps its passwords, and says what runs only while it runs."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deploy.embedded.processes import start_mark
from deploy.embedded.state import (
    DATA_DIR_VARIABLE,
    ROOT_DATA_DIR,
    DataFolder,
    RunningStack,
    RunningVault,
    default_data_dir,
    forget_running_stack,
    read_running_stack,
    write_running_stack,
)
from shared.errors import InvalidInput


@pytest.fixture
def data(tmp_path: Path) -> DataFolder:
    return DataFolder.create(tmp_path / "data")


def a_stack(pid: int, mark: str) -> RunningStack:
    return RunningStack(
        pid=pid,
        start_mark=mark,
        version="1.2.3",
        started_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        nats_url="nats://citebus:a@127.0.0.1:20001",
        postgres_dsn="postgresql://citebus:b@127.0.0.1:20002/citebus",
        postgres_reader_dsn="postgresql://citebus_reader:c@127.0.0.1:20002/citebus",
        vaults=(RunningVault(vault_id="notes", folder=Path("/home/me/notes")),),
    )


def our_own() -> RunningStack:
    return a_stack(os.getpid(), start_mark(os.getpid()) or "")


def test_passwords_are_made_once_and_kept_private(data: DataFolder) -> None:
    first = data.secrets()
    assert data.secrets() == first
    assert len({first.nats, first.postgres_owner, first.postgres_reader}) == 3
    assert (data.root / "secrets.json").stat().st_mode & 0o777 == 0o600


def test_two_folders_have_different_passwords(tmp_path: Path) -> None:
    assert DataFolder.create(tmp_path / "a").secrets() != DataFolder.create(tmp_path / "b").secrets()


def test_damaged_passwords_are_not_replaced(data: DataFolder) -> None:
    path = data.root / "secrets.json"
    path.write_text("{")
    with pytest.raises(InvalidInput, match="damaged"):
        data.secrets()
    assert path.read_text() == "{"


def test_nobody_else_may_look_into_a_new_folder(data: DataFolder) -> None:
    assert data.root.stat().st_mode & 0o066 == 0
    assert data.nats.stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_made_is_refused_with_advice(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="--data-dir"):
        DataFolder.create(tmp_path / "file" / "data")


def test_the_environment_names_the_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATA_DIR_VARIABLE, "/srv/x")
    assert default_data_dir() == Path("/srv/x")


def test_the_default_is_outside_the_home_of_root_and_inside_that_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DATA_DIR_VARIABLE, raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert default_data_dir() == ROOT_DATA_DIR
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("HOME", "/home/me")
    assert default_data_dir().name == "citebus"
    assert default_data_dir().is_relative_to("/home/me")


def test_a_running_stack_is_found_with_all_that_was_written(data: DataFolder) -> None:
    write_running_stack(data, our_own())
    assert read_running_stack(data.root) == our_own()
    assert data.stack_file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "stack", [a_stack(2**22 + 1, "1"), a_stack(os.getpid(), "not ours")], ids=["no process", "a later process"]
)
def test_what_a_crash_left_behind_does_not_run(data: DataFolder, stack: RunningStack) -> None:
    write_running_stack(data, stack)
    assert read_running_stack(data.root) is None


def test_nothing_runs_in_a_folder_that_is_new_damaged_or_missing(data: DataFolder, tmp_path: Path) -> None:
    assert read_running_stack(data.root) is None
    data.stack_file.write_text("{")
    assert read_running_stack(data.root) is None
    assert read_running_stack(tmp_path / "missing") is None


def test_a_forgotten_stack_does_not_run(data: DataFolder) -> None:
    write_running_stack(data, our_own())
    forget_running_stack(data)
    forget_running_stack(data)
    assert read_running_stack(data.root) is None
