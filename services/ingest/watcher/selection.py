"""Which entries of a vault's folder are pages: the vault's patterns, less what is hidden or an editor's temporary file.

Pure: decides by names alone. The same decision is taken by a sweep, which leaves whole folders out, and by the check
of a single path, which asks for each folder above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pathspec import GitIgnoreSpec

from shared.contracts.files import VaultSettings
from shared.errors import InvalidInput

_TEMPORARY = re.compile(
    r"""
      \.                        # hidden: .git, .obsidian, .trash, vim's .x.swp, emacs' .#x, iCloud's .x.icloud, `.md`
    | ~\$                       # Office: ~$x
    | ~syncthing~               # Syncthing while it receives
    | \#.*\#$                   # emacs' auto-save: #x#
    | 4913$                     # vim tries whether it may write
    | .*~$                      # backups of vim, emacs, gedit, kate
    | .*\.(?:tmp|temp|swp|swo|swx|part|partial|crdownload|vsctmp|bak|orig|icloud)$
    | .*___jb_(?:tmp|old)___$   # JetBrains
    | .*\.tmp\.\d[\d.]*$        # x.md.tmp.1234.567: atomic writers of Node
    | .*\.sb-[0-9a-f]+-\w+$     # macOS safe save
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
"""Names of files that are never pages, whatever the patterns say."""

_SUFFIX_ONLY = re.compile(r"\*(\.[\w.-]+)")
"""A pattern that only asks for a file's ending; most vaults have no other, and `endswith` is 50 times faster."""


class Selection:
    """Decides by path. Paths are relative to the vault, with slashes."""

    def __init__(self, settings: VaultSettings) -> None:
        """Compile the patterns; raises InvalidInput for one that .gitignore does not allow."""
        endings = [_SUFFIX_ONLY.fullmatch(pattern) for pattern in settings.include]
        self._endings = tuple(found[1] for found in endings if found) if all(endings) else None
        self._include = _patterns("include", settings.include)
        self._exclude = _patterns("exclude", settings.exclude) if settings.exclude else None

    def takes_file(self, path: str) -> bool:
        """Say whether a file is a page, given that its folder is entered."""
        if _TEMPORARY.match(path, path.rfind("/") + 1):
            return False
        if not (path.endswith(self._endings) if self._endings is not None else self._include.match_file(path)):
            return False
        return self._exclude is None or not self._exclude.match_file(path)

    def enters(self, folder: str) -> bool:
        """Say whether a folder's content can be pages, given that its parent is entered; hidden folders never are."""
        if folder.startswith(".", folder.rfind("/") + 1):
            return False
        return self._exclude is None or not self._exclude.match_file(folder + "/")

    def reaches(self, path: str) -> bool:
        """Say whether every folder above a path is entered."""
        end = path.find("/")
        while end != -1:
            if not self.enters(path[:end]):
                return False
            end = path.find("/", end + 1)
        return True


def _patterns(key: str, patterns: Iterable[str]) -> GitIgnoreSpec:
    try:
        return GitIgnoreSpec.from_lines(patterns)
    except ValueError as error:
        raise InvalidInput(f"`{key}` has a pattern that is not valid in .gitignore: {error}") from error
