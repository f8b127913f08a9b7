"""The data folder of the embedded stack: where everything lies, its passwords, and what runs on it now.

    <data>/lock           held by the running stack (deploy.embedded.lock)
    <data>/stack.json     what runs, while it runs, with addresses and passwords
    <data>/secrets.json   passwords, made once
    <data>/ports.json     ports, kept from start to start
    <data>/logs/          one file per server
    <data>/nats/          JetStream and the server's configuration
    <data>/postgres/      the database cluster
    <data>/vectors/       Qdrant Edge

Files with passwords are readable by their owner only.
"""

from __future__ import annotations

import errno
import os
import secrets
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deploy.embedded.ports import PortBook
from deploy.embedded.private_files import write_private
from deploy.embedded.processes import start_mark
from shared.errors import InvalidInput

DATA_DIR_VARIABLE = "CITEBUS_DATA_DIR"
"""Environment variable that names the data folder."""

ROOT_DATA_DIR = Path("/var/lib/citebus")
"""Root's data folder: Postgres runs as another user then, who can't enter root's home."""

_FOLDERS = ("logs", "nats", "vectors")


def default_data_dir() -> Path:
    """Return the data folder when none is given: CITEBUS_DATA_DIR, else the user's place for application data."""
    named = os.environ.get(DATA_DIR_VARIABLE)
    if named:
        return Path(named)
    return ROOT_DATA_DIR if os.geteuid() == 0 else platformdirs.user_data_path("citebus")


@dataclass(frozen=True, slots=True)
class DataFolder:
    """One data folder; `root` is absolute."""

    root: Path

    @classmethod
    def create(cls, root: Path) -> DataFolder:
        """Return the folder, made with all its parts where missing; raises InvalidInput when that is not allowed.

        Nobody else may look into it; as root others may pass through, for Postgres, which then runs as another user.
        """
        folder = cls(root.expanduser().resolve())
        try:
            if not folder.root.exists():
                folder.root.mkdir(parents=True)
                folder.root.chmod(0o711 if os.geteuid() == 0 else 0o700)
            for name in _FOLDERS:
                (folder.root / name).mkdir(mode=0o700, exist_ok=True)
            if not os.access(folder.root, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        except OSError as error:
            why = f"cannot keep data in {folder.root}: {error.strerror}; give another --data-dir"
            raise InvalidInput(why) from error
        return folder

    @property
    def nats(self) -> Path:
        """What NATS keeps."""
        return self.root / "nats"

    @property
    def postgres(self) -> Path:
        """What Postgres keeps."""
        return self.root / "postgres"

    @property
    def vectors(self) -> Path:
        """What Qdrant Edge keeps."""
        return self.root / "vectors"

    @property
    def lock_file(self) -> Path:
        """File that the running stack holds a lock on."""
        return self.root / "lock"

    @property
    def stack_file(self) -> Path:
        """File that says what runs."""
        return self.root / "stack.json"

    @property
    def ports(self) -> PortBook:
        """Ports that are written down."""
        return PortBook(self.root / "ports.json")

    def log(self, server: str) -> Path:
        """Return the log file of a server."""
        return self.root / "logs" / f"{server}.log"

    def secrets(self) -> Secrets:
        """Return the folder's passwords, made at the first call. Raises InvalidInput when their file is damaged."""
        path = self.root / "secrets.json"
        try:
            known = Secrets.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            known = Secrets()
        except ValidationError as error:
            raise InvalidInput(f"{path} is damaged: restore it from a backup, or start with another folder") from error
        if known.model_fields_set != set(Secrets.model_fields):  # none yet, or made by a version that knew fewer
            write_private(path, known.model_dump_json(indent=2))
        return known


def _password() -> str:
    return secrets.token_urlsafe(24)  # 192 bits, in letters that need no quoting in a URL


class Secrets(BaseModel):
    """Passwords of the embedded servers."""

    model_config = ConfigDict(frozen=True)

    nats: str = Field(default_factory=_password)
    postgres_owner: str = Field(default_factory=_password)
    postgres_reader: str = Field(default_factory=_password)
    postgres_chat: str = Field(default_factory=_password)


class RunningVault(BaseModel):
    """A vault that the stack watches."""

    model_config = ConfigDict(frozen=True)

    vault_id: str
    folder: Path


class RunningStack(BaseModel):
    """What runs on a data folder, with all that another command needs to reach it."""

    model_config = ConfigDict(frozen=True)

    pid: int
    start_mark: str = Field(description="Tells the process from a later one with the same id.")
    version: str
    started_at: datetime
    nats_url: str
    postgres_dsn: str
    postgres_reader_dsn: str
    vaults: tuple[RunningVault, ...] = ()


def write_running_stack(data: DataFolder, stack: RunningStack) -> None:
    """Write down what runs."""
    write_private(data.stack_file, stack.model_dump_json(indent=2))


def forget_running_stack(data: DataFolder) -> None:
    """Write down that nothing runs."""
    data.stack_file.unlink(missing_ok=True)


def read_running_stack(data_dir: Path) -> RunningStack | None:
    """Return what runs on a data folder; None when nothing does, whatever a crash left written there.

    Raises InvalidInput when the folder belongs to somebody else.
    """
    path = DataFolder(data_dir.expanduser().resolve()).stack_file
    try:
        stack = RunningStack.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValidationError):
        return None
    except PermissionError as error:
        raise InvalidInput(f"{path} belongs to another user, and so does the stack that runs there") from error
    return stack if start_mark(stack.pid) == stack.start_mark else None
