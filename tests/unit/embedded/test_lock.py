"""One stack per data folder."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deploy.embedded.lock import hold
from deploy.embedded.processes import start_mark
from deploy.embedded.state import DataFolder, RunningStack, RunningVault, write_running_stack
from shared.errors import InvalidInput

HOLD = """
import sys, time
from pathlib import Path
from deploy.embedded.lock import hold
from deploy.embedded.state import DataFolder
with hold(DataFolder.create(Path(sys.argv[1]))):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def data(tmp_path: Path) -> DataFolder:
    return DataFolder.create(tmp_path / "data")


def test_a_second_stack_is_told_who_runs_and_what_to_do(data: DataFolder) -> None:
    stack = RunningStack(
        pid=os.getpid(),
        start_mark=start_mark(os.getpid()) or "",
        version="1",
        started_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        nats_url="nats://citebus:secret@127.0.0.1:1",
        postgres_dsn="postgresql://citebus:secret@127.0.0.1:2/citebus",
        postgres_reader_dsn="postgresql://citebus_reader:secret@127.0.0.1:2/citebus",
        vaults=(RunningVault(vault_id="notes", folder=Path("/home/me/notes")),),
    )
    with hold(data):
        write_running_stack(data, stack)
        with pytest.raises(InvalidInput) as refused, hold(data):
            pass
    message = str(refused.value)
    for part in (str(data.root), str(os.getpid()), "2026-01-02 03:04:05", "notes (/home/me/notes)", "citebus status"):
        assert part in message
    assert "secret" not in message


def test_a_stack_that_is_not_up_yet_is_told_apart(data: DataFolder) -> None:
    with hold(data), pytest.raises(InvalidInput, match=rf"starting or stopping .*process {os.getpid()}\)"), hold(data):
        pass


def test_a_folder_is_free_again_after_an_orderly_end(data: DataFolder) -> None:
    for _ in range(2):
        with hold(data):
            pass


def test_a_killed_holder_holds_nothing(data: DataFolder) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(data.root)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(InvalidInput, match=f"process {holder.pid}"), hold(data):
            pass
    finally:
        holder.kill()
        holder.communicate()
    with hold(data):
        pass
