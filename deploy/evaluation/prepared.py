"""A set's vault and the data folder of its stack, kept by what the vault says: the same set is ingested once.

    <work>/<set>-<hash>/vault        the pages
    <work>/<set>-<hash>/data         the state of the stack (deploy.embedded.state)
    <work>/<set>-<hash>/ids.json     page path to document id; outside of the vault, so that it is not searched
    <work>/<set>-<hash>/ingest.json  how long ingesting took, once it has ended

The hash is over the pages and the embedding space. Other changes of the code are worked again by the stack itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import platformdirs

from deploy.embedded.state import ROOT_DATA_DIR, read_running_stack
from deploy.evaluation.questions import JudgedSet
from shared.errors import InvalidInput
from shared.ids import slugify

_MODE = 0o711
"""As root, Postgres runs as another user, who has to pass through to its part of the data folder."""


@dataclass(frozen=True, slots=True)
class Ingest:
    """What ingesting cost, when all of it happened in one go."""

    searchable_s: float
    """Until every page was found by its words."""
    embedded_s: float
    """Until every chunk had its vector."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A vault on disk, with the place for its stack."""

    root: Path
    ids: Mapping[str, str]
    """Page path (NFC) to document id."""

    @property
    def vault(self) -> Path:
        """Folder of the pages."""
        return self.root / "vault"

    @property
    def data(self) -> Path:
        """Data folder of the stack."""
        return self.root / "data"

    @property
    def is_new(self) -> bool:
        """Whether no stack has ever run on it."""
        return not self.data.exists()

    def ingest(self) -> Ingest | None:
        """Return what ingesting cost; None when that was never measured whole."""
        try:
            return Ingest(**json.loads((self.root / "ingest.json").read_text()))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def keep(self, ingest: Ingest) -> None:
        """Write down what ingesting cost."""
        (self.root / "ingest.json").write_text(json.dumps(asdict(ingest)))


def default_work_dir() -> Path:
    """Return the user's place for what can be made again; root's is where other users may pass through."""
    parent = ROOT_DATA_DIR if os.geteuid() == 0 else platformdirs.user_cache_path("citebus")
    return parent / "evaluation"


def prepare(judged: JudgedSet, work_dir: Path, space: str, *, fresh: bool = False) -> Prepared:
    """Return the set's vault, made now unless it is there already; `fresh` forgets the latter. Blocking.

    Raises InvalidInput when the set's documents are wrong or a stack runs on what `fresh` would delete.
    """
    _make(work_dir)
    staging = Path(tempfile.mkdtemp(prefix="new-", dir=work_dir))
    try:
        staging.chmod(_MODE)
        _make(staging / "vault")
        ids = judged.source.write(staging / "vault")
        if not ids:
            raise InvalidInput(f"{judged.name} has no documents")
        (staging / "ids.json").write_text(json.dumps(ids, ensure_ascii=False))
        root = work_dir / f"{slugify(judged.name)}-{_digest(staging / 'vault', space)}"
        if fresh:
            _forget(root)
        if not root.exists():
            staging.rename(root)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return Prepared(root, ids)


def _make(folder: Path) -> None:
    if not folder.exists():
        folder.mkdir(parents=True)
        folder.chmod(_MODE)


def _forget(root: Path) -> None:
    if root.exists() and read_running_stack(root / "data") is not None:
        raise InvalidInput(f"a stack runs on {root / 'data'}: let it end before it is made afresh")
    shutil.rmtree(root, ignore_errors=True)


def _digest(vault: Path, space: str) -> str:
    """Return a hash of all files of a folder, by path and content, and of the space."""
    whole = hashlib.sha256(space.encode())
    for file in sorted(path for path in vault.rglob("*") if path.is_file()):
        whole.update(b"\0" + file.relative_to(vault).as_posix().encode("utf-8", "surrogateescape") + b"\0")
        whole.update(hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()[:16]
