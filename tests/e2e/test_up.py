"""`citebus up`: what it prints, who may run it, how it ends, and that it comes back after a kill."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import psutil
import pytest

from deploy.embedded.stack import open_stack
from deploy.embedded.stack_types import StackOptions
from deploy.embedded.state import read_running_stack
from shared.errors import Unavailable
from tests.e2e.machine import STOP_S, Machine


@pytest.fixture
def vault(machine: Machine) -> Path:
    return machine.vault("garden", {"wiki/kraut.md": "# Sauerkraut\n\nTwenty grams of salt per kilo of cabbage.\n"})


def found(machine: Machine) -> list[str]:
    """Search, and return the paths of the hits."""
    return [hit["path"] for hit in json.loads(machine.citebus("search", "salt cabbage", "--json").stdout)["hits"]]


def status(machine: Machine) -> dict[str, object]:
    (reply,) = json.loads(machine.citebus("status", "--json").stdout)["vaults"]
    return reply


def test_up_prints_what_runs_where_each_once_and_no_password(machine: Machine, vault: Path) -> None:
    with machine.up(vault) as up:
        parts = [line.split("  ")[0] for line in up.printed.splitlines()]
        servers, vault_and_data = ["nats-server", "postgres", "vectors"], ["vault garden", "data"]
        assert parts == ["part", *servers, "services", "chat", *vault_and_data, parts[-1]]
        assert str(vault) in up.printed
        assert str(machine.data_dir) in up.printed
        assert str(up.process.pid) in up.printed
        address = up.stack.nats_url.rpartition("@")[2]
        assert f"nats://{address}" in up.printed
        assert up.stack.nats_url not in up.printed


def test_a_second_up_on_the_same_data_folder_says_who_holds_it(machine: Machine, vault: Path) -> None:
    with machine.up(vault) as up:
        refused = machine.citebus("up", vault, expect=2)
        assert refused.stdout == ""
        assert "is already running" in refused.stderr
        assert f"process {up.process.pid}" in refused.stderr
        assert up.process.poll() is None
        assert found(machine) == ["wiki/kraut.md"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_signal_ends_everything_in_order_and_quietly(
    machine: Machine, vault: Path, number: signal.Signals, code: int
) -> None:
    with machine.up(vault) as up:
        machine.citebus("wait", vault / "wiki/kraut.md", "--until", "embedded")
        family = up.family()
        assert len(family) > 2  # itself and two servers at least
        assert up.stop(number) == code
    assert [process for process in family if process.is_running()] == []
    assert read_running_stack(machine.data_dir) is None
    assert not (machine.data_dir / "stack.json").exists()
    assert up.said() == ("stopping\n" if number == signal.SIGTERM else "")


def test_after_a_kill_the_next_up_goes_on_where_it_was(machine: Machine, vault: Path) -> None:
    with machine.up(vault) as up:
        machine.citebus("wait", vault / "wiki/kraut.md", "--until", "embedded")
        before = status(machine)
        family = up.family()
        assert up.stop(signal.SIGKILL) == -signal.SIGKILL
    _, alive = psutil.wait_procs(family, timeout=STOP_S)
    assert alive == []
    assert (machine.data_dir / "stack.json").exists()
    assert read_running_stack(machine.data_dir) is None
    with machine.up():  # the vaults of last time
        assert found(machine) == ["wiki/kraut.md"]
        assert status(machine) == before
        machine.vault("garden", {"wiki/new.md": "# Pickles\n\nSalt, cabbage, and patience.\n"})
        machine.citebus("wait", vault / "wiki/new.md", "--until", "embedded")
        assert sorted(found(machine)) == ["wiki/kraut.md", "wiki/new.md"]


async def test_a_server_that_cannot_start_is_one_error_and_leaves_nothing_running(
    machine: Machine, vault: Path
) -> None:
    await asyncio.to_thread(machine.citebus, "ingest", "--once", vault)
    (control,) = machine.data_dir.glob("postgres/**/global/pg_control")
    control.unlink()
    failed = await asyncio.to_thread(machine.citebus, "up", expect=1)
    assert len(failed.stderr.splitlines()) == 1
    assert failed.stderr.startswith("citebus: postgres ended with exit code")
    assert "pg_control" in failed.stderr
    assert [process.pid for process in psutil.process_iter() if works_in(process, machine.data_dir)] == []
    with pytest.raises(Unavailable, match="pg_control"):  # not in a group
        async with open_stack(StackOptions(machine.data_dir, ())):
            pass


def works_in(process: psutil.Process, folder: Path) -> bool:
    try:
        return Path(process.cwd()).is_relative_to(folder)
    except (psutil.Error, OSError):
        return False


def test_up_on_a_vault_with_wrong_settings_says_which_key_and_starts_nothing(machine: Machine, vault: Path) -> None:
    machine.vault("garden", {".citebus.toml": "exclud = []\n"})
    refused = machine.citebus("up", vault, expect=2)
    assert "did you mean `exclude`" in refused.stderr
    assert not machine.data_dir.exists()
