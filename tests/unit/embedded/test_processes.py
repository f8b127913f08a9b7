"""Children are detached from the terminal, stop when asked or are killed, die with their parent, are found again."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from deploy.embedded.processes import (
    MAX_LOG_BYTES,
    Child,
    bound_log,
    last_lines,
    processes_in,
    start_mark,
    stop_leftovers,
)
from tests.unit.embedded.programs import FAILS, IGNORES_SIGTERM, RUNS, launch_of

PARENT = """
import asyncio, sys
from pathlib import Path
from deploy.embedded.processes import Child
from tests.unit.embedded.programs import RUNS, launch_of
async def main():
    child = await Child.spawn(launch_of(RUNS, Path(sys.argv[1])))
    print(child.pid, flush=True)
    await child.wait()
asyncio.run(main())
"""


async def running(code: str, folder: Path) -> Child:
    child = await Child.spawn(launch_of(code, folder))
    while "ready" not in (folder / "log").read_text():
        assert not await child.wait(timeout_s=0.01)
    return child


async def test_a_child_has_a_session_of_its_own_and_our_program(tmp_path: Path) -> None:
    child = await running(RUNS, tmp_path)
    assert os.getsid(child.pid) == child.pid
    assert psutil.Process(child.pid).cmdline()[-1] == RUNS
    await child.stop(grace_s=5)


async def test_a_child_that_is_asked_to_end_is_not_killed(tmp_path: Path) -> None:
    child = await running(RUNS, tmp_path)
    assert child.how_it_ended() == "still running"
    await child.stop(grace_s=5)
    assert child.how_it_ended() == "signal SIGTERM"


async def test_a_child_that_does_not_end_is_killed_after_the_grace(tmp_path: Path) -> None:
    child = await running(IGNORES_SIGTERM, tmp_path)
    await child.stop(grace_s=0.05)
    assert child.how_it_ended() == "signal SIGKILL"
    await child.stop(grace_s=0.05)  # once more does no harm


async def test_a_failure_shows_its_code_and_its_last_words(tmp_path: Path) -> None:
    child = await Child.spawn(launch_of(FAILS, tmp_path))
    assert await child.wait(timeout_s=10)
    assert child.how_it_ended() == "exit code 3"
    assert last_lines(tmp_path / "log") == "out of luck"


async def test_a_program_that_cannot_be_run_says_so(tmp_path: Path) -> None:
    launch = launch_of(RUNS, tmp_path)
    missing = type(launch)(argv=(str(tmp_path / "missing"),), folder=tmp_path, log=tmp_path / "log")
    child = await Child.spawn(missing)
    assert await child.wait(timeout_s=10)
    assert child.how_it_ended() == "exit code 127"
    assert "No such file" in last_lines(tmp_path / "log")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
def test_a_child_dies_with_its_killed_parent(tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.communicate()
    assert psutil.wait_procs([child], timeout=10) == ([child], [])


async def test_leftovers_are_found_by_program_and_folder_and_stopped(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    left, other = await running(IGNORES_SIGTERM, ours), await running(RUNS, theirs)
    program = psutil.Process(left.pid).name()
    assert [process.pid for process in processes_in(ours, program)] == [left.pid]
    assert processes_in(ours, "another") == []
    stopped = await asyncio.to_thread(stop_leftovers, ours, program, signal.SIGTERM, 0.1)
    assert stopped == 1
    assert await left.wait(timeout_s=5)
    assert other.running
    await other.stop(grace_s=5)


def test_a_long_log_is_moved_aside_while_its_writer_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"a" * (MAX_LOG_BYTES + 1))
        bound_log(log)
        writer.write(b"after")
    assert log.read_bytes() == b"after"
    assert (tmp_path / "log.1").stat().st_size == MAX_LOG_BYTES


def test_a_short_log_is_left_alone(tmp_path: Path) -> None:
    log = tmp_path / "log"
    bound_log(log)
    log.write_text("short")
    bound_log(log)
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_the_last_lines_of_a_log_are_told_or_that_there_are_none(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert last_lines(log) == "(nothing logged)"
    log.write_text("\n".join(map(str, range(5_000))))
    assert last_lines(log, count=2) == "4998\n4999"


def test_the_start_mark_tells_a_process_from_others_and_from_none() -> None:
    with subprocess.Popen([sys.executable, "-c", RUNS]) as other:
        mark = start_mark(other.pid)
        assert mark is not None
        assert mark == start_mark(other.pid)
        assert mark != start_mark(os.getpid())
        other.kill()
    assert start_mark(other.pid) is None
