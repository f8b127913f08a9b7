"""A crashed server comes back, one that keeps crashing is given up, and a stop always ends it."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.embedded.supervised import Crashed, Restarted, RestartPolicy, Supervised
from shared.errors import Unavailable
from tests.unit.embedded.programs import FAILS, IGNORES_SIGTERM, RUNS, ScriptedServer

FAST = RestartPolicy(first_delay_s=0.001, ready_s=10, grace_s=0.05, quick_failures=3)
NEVER_READY = "import time; print('starting', flush=True); time.sleep(60)"


class Events(asyncio.Queue[Crashed | Restarted]):
    """What a supervised server reported."""


def kill(server: Supervised) -> None:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)


async def test_a_killed_server_is_reported_and_comes_back(tmp_path: Path) -> None:
    events = Events()
    server = ScriptedServer(tmp_path, RUNS)
    async with Supervised(server, FAST, events.put_nowait) as supervised:
        first = supervised.pid
        kill(supervised)
        crash = await events.get()
        assert isinstance(crash, Crashed)
        assert (crash.server, crash.how, crash.failures, crash.log_tail) == ("scripted", "signal SIGKILL", 1, "ready")
        assert await events.get() == Restarted("scripted")
        assert supervised.pid not in (None, first)
    assert server.starts == [False, True]


async def test_a_server_that_keeps_crashing_is_given_up_with_its_last_words(tmp_path: Path) -> None:
    events = Events()
    supervised = Supervised(ScriptedServer(tmp_path, RUNS), FAST, events.put_nowait)
    await supervised.start()
    for failures in range(1, FAST.quick_failures + 1):
        kill(supervised)
        crash = await events.get()
        assert isinstance(crash, Crashed)
        assert crash.failures == failures
        if failures < FAST.quick_failures:
            assert await events.get() == Restarted("scripted")
    with pytest.raises(Unavailable, match=r"scripted crashed 3 times in a row(?s:.*)ready"):
        await supervised.wait()
    await supervised.stop()
    assert supervised.pid is None


async def test_a_restart_that_never_answers_counts_as_a_quick_crash(tmp_path: Path) -> None:
    policy = RestartPolicy(ready_s=2, grace_s=0.05, quick_failures=2, quick_s=0)
    supervised = Supervised(ScriptedServer(tmp_path, RUNS, NEVER_READY), policy)
    await supervised.start()
    kill(supervised)
    with pytest.raises(Unavailable, match="crashed 2 times in a row"):
        await supervised.wait()


async def test_restarts_that_end_early_add_up_even_after_a_long_run(tmp_path: Path) -> None:
    policy = RestartPolicy(first_delay_s=0.001, ready_s=10, quick_failures=4, quick_s=0)
    server = ScriptedServer(tmp_path, RUNS, FAILS)
    supervised = Supervised(server, policy)
    await supervised.start()
    kill(supervised)
    with pytest.raises(Unavailable, match=r"crashed 4 times in a row(?s:.*)out of luck"):
        await supervised.wait()
    assert server.starts == [False, True, True, True]


async def test_crashes_after_long_runs_never_add_up(tmp_path: Path) -> None:
    events = Events()
    policy = RestartPolicy(first_delay_s=0.001, grace_s=0.05, quick_failures=2, quick_s=0)
    async with Supervised(ScriptedServer(tmp_path, RUNS), policy, events.put_nowait) as supervised:
        for _ in range(3):
            kill(supervised)
            assert isinstance(await events.get(), Crashed)
            assert isinstance(await events.get(), Restarted)


async def test_a_first_start_that_fails_is_tried_again_from_the_beginning(tmp_path: Path) -> None:
    server = ScriptedServer(tmp_path, FAILS, RUNS)
    async with Supervised(server, FAST):
        assert server.starts == [False, False]


async def test_a_first_start_that_keeps_failing_shows_the_last_words(tmp_path: Path) -> None:
    server = ScriptedServer(tmp_path, FAILS)
    with pytest.raises(Unavailable, match=r"ended with exit code 3 before it answered(?s:.*)out of luck"):
        await Supervised(server, FAST).start()
    assert len(server.starts) == FAST.port_attempts


async def test_a_server_that_does_not_answer_in_time_is_not_left_running(tmp_path: Path) -> None:
    supervised = Supervised(ScriptedServer(tmp_path, NEVER_READY), RestartPolicy(ready_s=0.05, grace_s=5))
    with pytest.raises(Unavailable, match="does not answer"):
        await supervised.start()
    assert supervised.pid is None


async def test_a_start_that_is_cancelled_leaves_nothing_running(tmp_path: Path) -> None:
    server = ScriptedServer(tmp_path, NEVER_READY)
    supervised = Supervised(server, FAST)
    starting = asyncio.create_task(supervised.start())
    await server.asked.wait()
    assert supervised.pid is not None
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert supervised.pid is None


async def test_a_stop_ends_the_server_and_everyone_who_waits(tmp_path: Path) -> None:
    supervised = Supervised(ScriptedServer(tmp_path, IGNORES_SIGTERM), FAST)
    await supervised.start()
    process = psutil.Process(supervised.pid)
    waiting = asyncio.create_task(supervised.wait())
    await supervised.stop()
    await waiting
    assert not process.is_running()


async def test_a_stop_in_the_middle_of_a_restart_ends_it(tmp_path: Path) -> None:
    events = Events()
    supervised = Supervised(ScriptedServer(tmp_path, RUNS, NEVER_READY), FAST, events.put_nowait)
    await supervised.start()
    kill(supervised)
    await events.get()
    await supervised.stop()
    assert supervised.pid is None
    assert events.empty()


@given(st.integers(min_value=1, max_value=1000))
def test_pauses_grow_up_to_a_bound(failures: int) -> None:
    policy = RestartPolicy()
    assert policy.delay_s(failures) <= policy.delay_s(failures + 1) <= policy.longest_delay_s
