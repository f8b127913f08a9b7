"""Both embedded servers on a data folder, in this process or, as a program, in one of its own.

`python -m tests.real.embedded_stack FOLDER` prints a Report as a line of JSON when they answer; SIGTERM stops them.
"""

from __future__ import annotations

import asyncio
import os
import pwd
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import nats
import psutil
from pydantic import BaseModel

from deploy.embedded.lock import hold
from deploy.embedded.nats_server import NatsServer
from deploy.embedded.postgres_server import PostgresServer
from deploy.embedded.state import DataFolder
from deploy.embedded.supervised import Report as Listener
from deploy.embedded.supervised import Supervised

REPOSITORY = Path(__file__).parent.parent.parent
SITE = Path(asyncpg.__file__).parent.parent
"""Where packages are installed, for a process that runs with another Python."""


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


async def store(nats_url: str, dsn: str, word: str) -> None:
    """Keep a word in a bucket and in a table."""
    client = await nats.connect(nats_url)
    bucket = await client.jetstream().create_key_value(bucket="kept")
    await bucket.put("word", word.encode())
    await client.close()
    connection = await asyncpg.connect(dsn)
    await connection.execute("CREATE TABLE IF NOT EXISTS kept (word text)")
    await connection.execute("INSERT INTO kept VALUES ($1)", word)
    await connection.close()


async def stored(nats_url: str, dsn: str) -> tuple[str, list[str]]:
    """Return what the bucket and the table hold."""
    client = await nats.connect(nats_url)
    entry = await (await client.jetstream().key_value("kept")).get("word")
    await client.close()
    connection = await asyncpg.connect(dsn)
    words = [row["word"] for row in await connection.fetch("SELECT word FROM kept")]
    await connection.close()
    return (entry.value or b"").decode(), words


def family(pid: int) -> list[psutil.Process]:
    """Return a process and all that it started."""
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


@contextmanager
def stack_process(
    folder: Path, python: str = sys.executable, user: str | None = None
) -> Generator[tuple[subprocess.Popen[str], Report]]:
    """Run the servers under another process; it is ended if the test did not."""
    process = subprocess.Popen(
        [python, "-m", "tests.real.embedded_stack", str(folder)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
        user=user,
        group=None if user is None else pwd.getpwnam(user).pw_gid,
        extra_groups=None if user is None else [],
        env={"PATH": os.defpath, "PYTHONPATH": str(SITE), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert process.stdout is not None
    try:
        yield process, Report.model_validate_json(process.stdout.readline())
    finally:
        process.terminate()
        process.communicate(timeout=30)


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
