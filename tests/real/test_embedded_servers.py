"""The servers from wheels keep their data through stops, kills and restarts, and listen to nobody but this machine."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncpg
import nats
import nats.errors
import psutil
import pytest

from deploy.embedded.nats_server import MAX_PAYLOAD_BYTES, NatsServer
from deploy.embedded.ports import LOOPBACK
from deploy.embedded.postgres_server import PostgresServer
from deploy.embedded.processes import Child
from deploy.embedded.state import DataFolder
from deploy.embedded.supervised import Crashed, Restarted, Supervised
from shared.errors import InvalidInput, Unavailable
from tests.real.embedded_stack import family, running_servers, stack_process, store, stored

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("wheels")]


async def test_data_addresses_and_passwords_survive_a_stop(data_dir: Path) -> None:
    async with running_servers(data_dir) as servers:
        first = servers.report()
        await store(first.nats_url, first.postgres_dsn, "kept")
    assert not psutil.pid_exists(first.nats_pid)
    assert not psutil.pid_exists(first.postgres_pid)
    async with running_servers(data_dir) as servers:
        second = servers.report()
        assert (second.nats_url, second.postgres_dsn) == (first.nats_url, first.postgres_dsn)
        assert await stored(second.nats_url, second.postgres_dsn) == ("kept", ["kept"])


async def test_a_killed_server_comes_back_at_its_address_with_its_data(data_dir: Path) -> None:
    events: asyncio.Queue[Crashed | Restarted] = asyncio.Queue()
    async with running_servers(data_dir, events.put_nowait) as servers:
        before = servers.report()
        await store(before.nats_url, before.postgres_dsn, "kept")
        for name, pid in (("nats", before.nats_pid), ("postgres", before.postgres_pid)):
            os.kill(pid, signal.SIGKILL)
            crash = await events.get()
            assert isinstance(crash, Crashed)
            assert (crash.server, crash.how) == (name, "signal SIGKILL")
            assert await events.get() == Restarted(name)
        assert await stored(before.nats_url, before.postgres_dsn) == ("kept", ["kept"])
        assert servers.report().postgres_pid != before.postgres_pid


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
async def test_no_server_outlives_its_killed_parent_and_the_next_start_has_the_data(data_dir: Path) -> None:
    with stack_process(data_dir) as (parent, report):
        await store(report.nats_url, report.postgres_dsn, "kept")
        servers = family(report.nats_pid) + family(report.postgres_pid)
        parent.kill()
        _, alive = await asyncio.to_thread(psutil.wait_procs, servers, timeout=20)
        assert alive == []
    async with running_servers(data_dir) as again:
        assert await stored(again.nats.url, again.postgres.dsn) == ("kept", ["kept"])


async def test_a_second_stack_on_the_folder_is_refused_and_harms_nothing(data_dir: Path) -> None:
    async with running_servers(data_dir) as servers:
        with pytest.raises(InvalidInput, match=f"process {os.getpid()}"):
            async with running_servers(data_dir):
                pass
        await store(servers.nats.url, servers.postgres.dsn, "kept")


@pytest.mark.parametrize("kind", [NatsServer, PostgresServer])
async def test_what_an_earlier_run_left_running_is_stopped_first(
    data_dir: Path, kind: type[NatsServer] | type[PostgresServer]
) -> None:
    data = DataFolder.create(data_dir)
    async with Supervised(kind(data, durable=False)):
        pass  # so that the database exists and starts fast
    earlier = kind(data, durable=False)
    left = await Child.spawn(await earlier.prepare(restart=False))
    await answering(earlier, left)
    async with Supervised(kind(data, durable=False)) as supervised:
        assert await left.wait(timeout_s=20)
        assert supervised.pid not in (None, left.pid)


async def answering(server: NatsServer | PostgresServer, child: Child) -> None:
    while True:
        try:
            return await server.check()
        except Unavailable:
            assert not await child.wait(timeout_s=0.01)


async def test_ports_that_somebody_took_are_replaced_and_written_down(data_dir: Path) -> None:
    data = DataFolder.create(data_dir)
    taken = {name: data.ports.choose(name) for name in ("nats", "postgres")}
    listeners = [await asyncio.start_server(lambda _, __: None, LOOPBACK, port) for port in taken.values()]
    async with running_servers(data_dir) as servers:
        chosen = data.ports.read()
        assert not set(chosen.values()) & set(taken.values())
        assert servers.nats.url.endswith(f":{chosen['nats']}")
        assert f":{chosen['postgres']}/" in servers.postgres.dsn
    for listener in listeners:
        listener.close()


async def test_a_port_lost_at_the_last_moment_is_replaced(data_dir: Path) -> None:
    data = DataFolder.create(data_dir)
    server = NatsServer(data, durable=False)
    launch = await server.prepare(restart=False)
    lost = data.ports.read()["nats"]
    listener = await asyncio.start_server(lambda _, __: None, LOOPBACK, lost)
    child = await Child.spawn(launch)
    assert await child.wait(timeout_s=10)
    async with Supervised(server):
        assert data.ports.read()["nats"] != lost
    listener.close()


def connections(process: psutil.Process) -> list[Any]:
    """Return the connections of a process; none when it has just ended, as a server's workers do."""
    try:
        return process.net_connections("all")
    except psutil.NoSuchProcess:
        return []


async def test_servers_listen_on_loopback_only(data_dir: Path) -> None:
    async with running_servers(data_dir) as servers:
        report = servers.report()
        sockets = [
            connection
            for process in family(report.nats_pid) + family(report.postgres_pid)
            for connection in connections(process)
            if connection.status == psutil.CONN_LISTEN or (connection.family == 1 and connection.laddr)
        ]
        assert {socket.laddr.ip for socket in sockets} == {LOOPBACK}
        assert {socket.laddr.port for socket in sockets} == set(DataFolder(data_dir).ports.read().values())


async def test_nobody_enters_without_the_password_and_none_is_shown_to_other_users(data_dir: Path) -> None:
    async with running_servers(data_dir) as servers:
        report, address = servers.report(), servers.nats.url.rpartition("@")[2]
        with pytest.raises(nats.errors.Error):
            await nats.connect(f"nats://{address}", allow_reconnect=False)
        with pytest.raises(asyncpg.InvalidPasswordError):
            await asyncpg.connect(report.postgres_dsn, password="wrong")
        shown = [word for pid in (report.nats_pid, report.postgres_pid) for word in psutil.Process(pid).cmdline()]
        made = DataFolder(data_dir).secrets()
        assert not [word for word in shown if made.nats in word or made.postgres_owner in word]
    holding = list(files_with(data_dir, made.nats, made.postgres_owner))
    assert {path.name for path in holding} == {"secrets.json", "server.conf"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in holding)


def files_with(folder: Path, *words: str) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and any(word.encode() in path.read_bytes() for word in words):
            yield path


async def test_a_message_of_eight_megabytes_passes(data_dir: Path) -> None:
    async with Supervised(server := NatsServer(DataFolder.create(data_dir), durable=False)):
        client = await nats.connect(server.url)
        assert client.max_payload == MAX_PAYLOAD_BYTES
        jetstream = client.jetstream()
        await jetstream.add_stream(name="LARGE", subjects=["large"])
        await jetstream.publish("large", b"x" * (MAX_PAYLOAD_BYTES - 1_000), timeout=20)
        await client.close()


async def test_passwords_that_do_not_fit_the_database_are_told_at_once(data_dir: Path) -> None:
    data = DataFolder.create(data_dir)
    async with Supervised(PostgresServer(data, durable=False)):
        pass
    (data.root / "secrets.json").unlink()
    with pytest.raises(InvalidInput, match=r"secrets\.json"):
        await Supervised(PostgresServer(data, durable=False)).start()


async def test_a_cluster_of_another_major_version_is_refused_untouched(data_dir: Path) -> None:
    data = DataFolder.create(data_dir)
    async with Supervised(PostgresServer(data, durable=False)):
        pass
    version = data.postgres / "data" / "PG_VERSION"
    version.write_text("9\n")
    with pytest.raises(InvalidInput, match="made by Postgres 9"):
        await Supervised(PostgresServer(data, durable=False)).start()


async def test_a_half_made_cluster_and_a_pid_file_of_an_earlier_boot_do_not_stop_a_start(data_dir: Path) -> None:
    data = DataFolder.create(data_dir)
    async with Supervised(PostgresServer(data, durable=False)):
        pass
    (data.postgres / "data").rename(data.postgres / "unfinished")
    async with Supervised(PostgresServer(data, durable=False)):
        pid_file = (data.postgres / "data" / "postmaster.pid").read_text()
    with unrelated_process(uid=data.postgres.stat().st_uid) as pid:
        (data.postgres / "data" / "postmaster.pid").write_text(f"{pid}{pid_file[pid_file.index(chr(10)) :]}")
        async with Supervised(PostgresServer(data, durable=False)):
            pass


@contextmanager
def unrelated_process(uid: int) -> Generator[int]:
    with subprocess.Popen(["sleep", "60"], user=uid if os.geteuid() == 0 else None) as process:
        try:
            yield process.pid
        finally:
            process.kill()
