"""The vaults that a data folder has seen, written down in `<data>/vaults.json` so that commands find them later."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from deploy.embedded.private_files import write_private

_BOOK = TypeAdapter(dict[str, Path])


def known_vaults(data_dir: Path) -> dict[str, Path]:
    """Return vault id to folder for every vault seen whose folder still exists; a missing or damaged file is empty."""
    try:
        book = _BOOK.validate_json(_file(data_dir).read_bytes())
    except (OSError, ValidationError):
        return {}
    return {vault_id: folder for vault_id, folder in book.items() if folder.is_dir()}


def remember_vaults(data_dir: Path, vaults: Mapping[str, Path]) -> None:
    """Add vaults; one with the same id, or another id for the same folder, is replaced. The data folder must exist."""
    folders = set(vaults.values())
    kept = {vault_id: folder for vault_id, folder in known_vaults(data_dir).items() if folder not in folders}
    write_private(_file(data_dir), _BOOK.dump_json({**kept, **vaults}, indent=2).decode())


def _file(data_dir: Path) -> Path:
    return data_dir / "vaults.json"
