"""A copy of a vault that exists, for a set whose judgements name its pages; the vault itself is only read."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deploy.evaluation.front_matter_keys import without_keys
from services.ingest.watcher.scan import FolderScanner
from services.ingest.watcher.selection import Selection
from services.ingest.watcher.settings_file import SETTINGS_FILE, read_settings
from shared.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class VaultCopy:
    """The pages of a vault; a document's id is its path in the vault."""

    folder: Path
    drop_keys: frozenset[str] = frozenset()
    """Front matter keys that are left out."""
    language: str | None = None
    """Written into the copy's settings; refused for a vault that has settings of its own."""

    def write(self, folder: Path) -> Mapping[str, str]:
        """Copy the pages and the vault's settings; see deploy.evaluation.questions.Source."""
        root = self.folder.resolve()
        if not root.is_dir():
            raise InvalidInput(f"{self.folder} is no folder: name the vault with --vault")
        self._settle(root, folder)
        found = FolderScanner(str(root), Selection(read_settings(root))).scan()
        for path, entry in found.entries.items():
            self._copy(root / entry.disk_path, folder / path)
        return {path: path for path in sorted(found.entries)}

    def _settle(self, root: Path, folder: Path) -> None:
        settings = root / SETTINGS_FILE
        if settings.exists() and self.language:
            raise InvalidInput(f"{settings} decides the language of its vault: leave --language out")
        if settings.exists():
            shutil.copyfile(settings, folder / SETTINGS_FILE)
        elif self.language:
            (folder / SETTINGS_FILE).write_text(f'language = "{self.language}"\n', encoding="utf-8")

    def _copy(self, file: Path, copy: Path) -> None:
        copy.parent.mkdir(parents=True, exist_ok=True)
        try:
            content = file.read_bytes()
            copy.write_bytes(without_keys(content, self.drop_keys) if self.drop_keys else content)
        except InvalidInput as error:
            raise InvalidInput(f"{file}: {error}") from error
