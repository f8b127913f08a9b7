"""Save to wiki (`ingest.text`): the use case in the watcher, the only process that has the vault's folder.

A page that this feature did not write is never touched; it is known by its front matter. The same turn again writes
nothing. What the vault would not index (its patterns, its strict schema, its limit of size) is refused before anything
is written. Saves of one vault come one after another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

from services.ingest.text.preparation import prepare_page
from services.ingest.watcher.saving_files import names_in, read_page, write_page
from services.ingest.watcher.saving_names import FOLDER, candidate_paths
from services.ingest.watcher.saving_page import SavedPage, page_text, saved_page
from services.ingest.watcher.selection import Selection
from shared.contracts.files import VaultSettings
from shared.contracts.saving import SaveTextReply, SaveTextRequest
from shared.errors import InvalidInput, TooLarge, Unavailable
from shared.ids import content_hash

Outcome = Literal["created", "unchanged", "updated"]

_PUBLISH_S = 5.0
"""How long a reply waits for the watcher, which may be in the middle of a sweep; the page is published all the same."""


class PageWatch(Protocol):
    """What saving needs of the vault's watcher."""

    root: str
    """The vault's folder."""
    settings: VaultSettings
    """The vault's settings as they are now."""

    @property
    def max_bytes(self) -> int:
        """Largest file that is published."""
        ...

    def check_folder(self) -> None:
        """Raise Unavailable unless the folder is there and the one that is watched (not an empty mount point)."""
        ...

    async def publish(self, disk_path: str) -> UUID | None:
        """Publish the file at a path now; return its page's id, None when it is no page. Raises Unavailable."""
        ...


class Saving:
    """Saves texts as pages of one vault."""

    def __init__(self, watch: PageWatch, now: Callable[[], datetime]) -> None:
        """`now` returns the time of day, with its zone."""
        self._watch = watch
        self._now = now
        self._turn = asyncio.Lock()

    async def save(self, _: str, request: SaveTextRequest) -> SaveTextReply:
        """Write the page and have it published.

        Raises InvalidInput (a path that may not be, or is another's; a text that the vault would not index), TooLarge,
        Unavailable (the disk is full or away).
        """
        content = page_text(request, self._now())
        async with self._turn:
            path, outcome, written = await asyncio.to_thread(self._save, request, content)
            page_id = await self._published(path)
        return SaveTextReply(path=path, content_hash=content_hash(written), page_id=page_id, outcome=outcome)

    def _save(self, request: SaveTextRequest, content: bytes) -> tuple[str, Outcome, bytes]:
        """Return where the page is, what was done, and what stands there now."""
        self._watch.check_folder()
        path, there = self._place(request)
        if there is None:
            self._check(path, content)
            write_page(self._watch.root, path, content, replace=False)
            return path, "created", content
        if _same_words(there, content):
            return path, "unchanged", there
        if not request.overwrite:
            raise InvalidInput(f"{path} was saved before and says something else: ask to overwrite it to replace it.")
        self._check(path, content)
        write_page(self._watch.root, path, content, replace=True)
        return path, "updated", content

    def _place(self, request: SaveTextRequest) -> tuple[str, bytes | None]:
        """Return the path to use and what stands there: this turn's page where there is one, else a free name."""
        paths = candidate_paths(request)
        found = [(path, read_page(self._watch.root, path, self._watch.max_bytes)) for path in paths]
        for path, content in found:
            if content is not None and _is_same_turn(saved_page(content), request):
                return path, content
        if (earlier := self._earlier(request)) is not None:
            return earlier
        if (free := next((path for path, content in found if content is None), None)) is not None:
            return free, None
        path, content = found[-1]
        if content is None or saved_page(content) is None:
            raise InvalidInput(f"{path} was not written by citebus and stays as it is: choose another path.")
        return path, content

    def _earlier(self, request: SaveTextRequest) -> tuple[str, bytes] | None:
        """Return the page that this turn was saved as under another title, unless the request names a path itself."""
        if request.path is not None or request.turn_id is None:
            return None
        turn = str(request.turn_id).encode()
        for name in names_in(self._watch.root, FOLDER):
            path = f"{FOLDER}/{name}"
            content = self._readable(path) if name.endswith(".md") else None
            if content is not None and turn in content and _is_same_turn(saved_page(content), request):
                return path, content
        return None

    def _readable(self, path: str) -> bytes | None:
        try:
            return read_page(self._watch.root, path, self._watch.max_bytes)
        except InvalidInput:  # somebody else's, and no page
            return None

    def _check(self, path: str, content: bytes) -> None:
        """Refuse what would be written and not indexed. Raises InvalidInput, TooLarge."""
        settings = self._watch.settings
        selection = Selection(settings)
        if not (selection.reaches(path) and selection.takes_file(path)):
            raise InvalidInput(f"{path} is left out by the vault's include and exclude patterns: choose another path.")
        if len(content) > self._watch.max_bytes:
            raise TooLarge(
                f"The page would have {len(content):,} bytes, at most {self._watch.max_bytes:,} are indexed."
            )
        prepare_page(path, content, settings)

    async def _published(self, path: str) -> UUID | None:
        try:
            async with asyncio.timeout(_PUBLISH_S):
                return await self._watch.publish(path)
        except (TimeoutError, Unavailable):  # written is written: the watcher comes to it
            return None


def _is_same_turn(there: SavedPage | None, request: SaveTextRequest) -> bool:
    return there is not None and request.turn_id is not None and there.turn == str(request.turn_id)


def _same_words(there: bytes, content: bytes) -> bool:
    before, after = saved_page(there), saved_page(content)
    return before is not None and after is not None and before.words == after.words
