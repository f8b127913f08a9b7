"""The fixtures on real servers do what they say."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest
from nats.aio.client import Client

from shared.topology import Topology
from tests.databases import delete_namespace, stream_names
from tests.servers import Endpoints, do_without

END_OF_A_RUN = """
import os, signal
from pathlib import Path
def test_that_ends_the_run(endpoints):
    controller = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
    Path({seen!r}).write_text(endpoints.model_dump_json())
    os.kill(controller, signal.{signal})
    signal.pause()
"""


@pytest.mark.parametrize("ending", ["SIGINT", "SIGKILL"])
@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "xdist"])
def test_no_server_outlives_its_run_however_it_ends(
    endpoints: Endpoints, data_dir: Path, ending: str, workers: tuple[str, ...]
) -> None:
    if not endpoints.nats_url or not endpoints.postgres_dsn:
        do_without("servers", f"{endpoints.nats_problem} {endpoints.postgres_problem}")
    folder = data_dir.parent
    seen = folder / "endpoints.json"
    (folder / "test_end.py").write_text(END_OF_A_RUN.format(seen=str(seen), signal=ending))
    options = ["-c", "pyproject.toml", "-p", "tests.conftest", "-p", "no:cacheprovider", "-q", *workers]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "CITEBUS_"))}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(folder)],
        cwd=Path(__file__).parent.parent.parent,
        env=environment | {"TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert seen.exists(), run.stdout + run.stderr
    deadline = time.monotonic() + 30
    while list(folder.glob("citebus-run-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(folder.glob("citebus-run-*")) == []
    assert [answers(address) for address in addresses(seen)] == [False, False]


def addresses(seen: Path) -> list[tuple[str, int]]:
    found = Endpoints.model_validate_json(seen.read_text())
    urls = [urlsplit(url) for url in (found.nats_url, found.postgres_dsn) if url]
    return [(url.hostname or "", url.port or 0) for url in urls]


def answers(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


async def test_a_fresh_database_has_the_schema_and_no_rows(database: str) -> None:
    connection = await asyncpg.connect(database)
    try:
        assert await connection.fetchval("SELECT count(*) FROM pages") == 0
    finally:
        await connection.close()


async def test_streams_and_buckets_of_a_namespace_are_deleted_and_no_others(
    bus: Client, nats_url: str, topology: Topology
) -> None:
    jetstream = bus.jetstream()
    other = Topology(namespace=f"{topology.namespace}x")
    for names in (topology, other):
        await jetstream.add_stream(name=names.files, subjects=[f"{names.root}.file.>"])
        await jetstream.create_key_value(bucket=names.vaults)
    await delete_namespace(nats_url, topology)
    left = set(await stream_names(jetstream))
    assert left & {topology.files, other.files, f"KV_{topology.vaults}", f"KV_{other.vaults}"} == {
        other.files,
        f"KV_{other.vaults}",
    }
    await delete_namespace(nats_url, other)
