"""Both embedded servers on a data folder, in this process or, as a program, in one of its own.

`python -m tests.real.embedded_stack FOLDER` prints a Report as a line of JSON when they answer; SIGTERM stops them.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from deploy.embedded.lock import hold
from deploy.embedded.nats_server import NatsServer
from deploy.embedded.postgres_server import PostgresServer
from deploy.embedded.state import DataFolder
from deploy.embedded.supervised import Report as Listener
from deploy.embedded.supervised import Supervised


class Report(BaseModel):
    """Where the servers of another process are."""

    nats_url: str
    postgres_dsn: str
    nats_pid: int
    postgres_pid: int


@dataclass(frozen=True, slots=True)
class Servers:
    """Two servers that answer, and those who watch over them."""

    nats: NatsServer
    postgres: PostgresServer
    watched_nats: Supervised
    watched_postgres: Supervised

    def report(self) -> Report:
        """Return where they are."""
        return Report(
            nats_url=self.nats.url,
            postgres_dsn=self.postgres.dsn,
            nats_pid=self.watched_nats.pid or 0,
            postgres_pid=self.watched_postgres.pid or 0,
        )


@asynccontextmanager
async def running_servers(folder: Path, listener: Listener | None = None) -> AsyncGenerator[Servers]:
    """Run both servers on a data folder, which is held meanwhile."""
    data = DataFolder.create(folder)
    with hold(data):
        nats, postgres = NatsServer(data, durable=False), PostgresServer(data, durable=False)
        async with (
            Supervised(nats, report=listener) as watched_nats,
            Supervised(postgres, report=listener) as watched_postgres,
        ):
            yield Servers(nats, postgres, watched_nats, watched_postgres)


async def main(folder: Path) -> None:
    """Run the servers until SIGTERM."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with running_servers(folder) as servers:
        sys.stdout.write(servers.report().model_dump_json() + "\n")
        sys.stdout.flush()
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
