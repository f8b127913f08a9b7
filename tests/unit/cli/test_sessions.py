"""Commands find the running stack, or start one, say so, catch up, and stop it again."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deploy.embedded.known_vaults import known_vaults, remember_vaults
from deploy.embedded.lock import hold
from deploy.embedded.processes import start_mark
from deploy.embedded.state import DataFolder, RunningStack, RunningVault, write_running_stack
from shared.errors import InvalidInput, Unavailable
from tests.unit.cli.fakes import CommandLine, citation, search_reply, status_reply, sync_reply


def pretend_running(data_dir: Path, **vaults: Path) -> None:
    """Write down that this very process is a stack."""
    mark = start_mark(os.getpid())
    assert mark is not None
    stack = RunningStack(
        pid=os.getpid(),
        start_mark=mark,
        version="0.1.0",
        started_at=datetime(2025, 1, 1, tzinfo=UTC),
        nats_url="nats://running:4222",
        postgres_dsn="",
        postgres_reader_dsn="",
        vaults=tuple(RunningVault(vault_id=vault_id, folder=folder) for vault_id, folder in vaults.items()),
    )
    write_running_stack(DataFolder.create(data_dir), stack)


@pytest.fixture
def answering(line: CommandLine) -> CommandLine:
    line.bus.answers |= {
        "citebus.v1.search.notes": search_reply(citation(1, "Tides", 0.5)),
        "citebus.v1.ingest.status.notes": status_reply(),
        "citebus.v1.ingest.sync.notes": sync_reply(),
    }
    return line


def test_a_running_stack_is_used_and_nothing_is_started(answering: CommandLine, vault: Path) -> None:
    pretend_running(answering.data_dir, notes=vault)
    result = answering.run("search", "tides")
    assert result.exit_code == 0
    assert answering.bus.opened == ["nats://running:4222"]
    assert answering.opener.opened == []
    assert result.stderr == ""


def test_a_stack_that_is_just_starting_is_waited_for(answering: CommandLine, vault: Path) -> None:
    starting = hold(DataFolder.create(answering.data_dir))
    starting.__enter__()
    up = threading.Timer(0.5, pretend_running, [answering.data_dir], {"notes": vault})
    up.start()
    try:
        result = answering.run("search", "tides")
    finally:
        up.join()
        starting.__exit__(None, None, None)
    assert result.exit_code == 0
    assert "just starting" in result.stderr
    assert answering.opener.opened == []


def test_without_a_stack_one_is_started_for_the_command_and_stopped(answering: CommandLine, vault: Path) -> None:
    result = answering.run("search", "tides", "--vault", str(vault))
    assert result.exit_code == 0
    assert [options.vaults for options in answering.opener.opened] == [(vault,)]
    assert answering.opener.closed == 1
    assert f"no stack runs on {answering.data_dir}: starting one for this command" in result.stderr


def test_progress_is_not_mentioned_when_there_is_nothing_to_wait_for(answering: CommandLine, vault: Path) -> None:
    result = answering.run("search", "tides", "--vault", str(vault))
    assert "waiting" not in result.stderr


def test_a_started_stack_catches_up_before_it_is_searched(answering: CommandLine, vault: Path) -> None:
    busy = status_reply(files_lag=2)
    answering.bus.answers["citebus.v1.ingest.status.notes"] = [busy, busy, status_reply()]
    answering.run("search", "tides", "--vault", str(vault))
    asked = [subject.rpartition("v1.")[2] for subject, _ in answering.bus.requests]
    assert asked == ["ingest.sync.notes", *["ingest.status.notes"] * 3, "search.notes"]


def test_the_vaults_of_a_data_folder_are_known_next_time(answering: CommandLine, vault: Path) -> None:
    answering.run("search", "tides", "--vault", str(vault))
    answering.run("status")
    assert answering.opener.opened[1].vaults == (vault,)


def test_without_a_known_vault_the_user_is_told_how_to_begin(line: CommandLine) -> None:
    result = line.run("search", "tides")
    assert result.exit_code == 2
    assert "citebus up VAULT" in result.stderr
    assert line.opener.opened == []


def test_the_data_folder_may_come_from_the_environment(
    answering: CommandLine, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_running(answering.data_dir, notes=vault)
    monkeypatch.setenv("CITEBUS_DATA_DIR", str(answering.data_dir))
    assert answering.run("search", "tides", data_dir=False).exit_code == 0


def test_a_stack_that_cannot_be_opened_is_one_sentence(line: CommandLine, vault: Path) -> None:
    line.opener.failure = InvalidInput("citebus is just\nstarting on this folder")
    result = line.run("search", "tides", "--vault", str(vault))
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == "citebus: citebus is just starting on this folder"


def test_an_error_out_of_a_task_group_is_one_sentence_too(line: CommandLine, vault: Path) -> None:
    line.opener.failure = ExceptionGroup("tasks", [ExceptionGroup("inner", [Unavailable("Postgres did not start")])])
    result = line.run("search", "tides", "--vault", str(vault))
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (1, "citebus: Postgres did not start")


def test_an_error_of_the_system_is_one_sentence_too(line: CommandLine, vault: Path) -> None:
    line.opener.failure = OSError(28, "No space left on device", "/data/nats")
    result = line.run("search", "tides", "--vault", str(vault))
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "citebus: [Errno 28] No space left on device: '/data/nats'"


def test_a_defect_is_not_passed_off_as_an_error_of_the_user(line: CommandLine, vault: Path) -> None:
    line.opener.failure = RuntimeError("a defect")
    result = line.run("search", "tides", "--vault", str(vault))
    assert "a defect" in repr(result.exception)


def test_a_vault_that_moved_keeps_its_id_and_loses_its_old_folder(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    remember_vaults(tmp_path, {"notes": old})
    remember_vaults(tmp_path, {"notes": new})
    assert known_vaults(tmp_path) == {"notes": new}


def test_a_vault_with_a_new_id_is_not_known_twice(tmp_path: Path) -> None:
    remember_vaults(tmp_path, {"a": tmp_path})
    remember_vaults(tmp_path, {"b": tmp_path})
    assert known_vaults(tmp_path) == {"b": tmp_path}


def test_a_damaged_list_of_vaults_is_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "vaults.json").write_text("{", encoding="utf-8")
    assert known_vaults(tmp_path) == {}
