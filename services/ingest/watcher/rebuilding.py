"""Keeps the manifest a copy of the log, whichever of the two was lost.

A manifest that was lost or damaged is rebuilt from the log's headers, and every file is hashed, since the log knows
no inodes. A log that was wiped and made anew gets every file again, under the ids that the pages had.
"""

from __future__ import annotations

from uuid import UUID

import structlog

from services.ingest.watcher.files import Known
from services.ingest.watcher.manifest import Manifest
from services.ingest.watcher.ports import FileLog
from shared.contracts.files import FileStamp

_FACT = "log"
"""Name of the fact in the manifest: identity of the log that it is a copy of."""

_BATCH = 1000
"""Rows per transaction while rebuilding."""

_log = structlog.get_logger(__name__)


async def follow_log(manifest: Manifest, log: FileLog, vault_id: str, now_s: float, *, rebuild: bool = False) -> bool:
    """Make the manifest a copy of this log; say whether it was not. Raises Unavailable.

    `rebuild`: compare with the log itself, not with what is remembered of it. `now_s`: seconds since 1970.
    """
    identity = await log.identity()
    if manifest.damaged:
        manifest.clear()
    known = manifest.fact(_FACT)
    if known == identity and not rebuild:
        return False
    if known is not None and known != identity:
        _log.warning("the log of files was made anew; every file is published again", vault=vault_id)
        manifest.unpublish()
    else:
        await _rebuild(manifest, log, vault_id, now_s)
    manifest.apply((), (), [(_FACT, identity)])
    return True


async def _rebuild(manifest: Manifest, log: FileLog, vault_id: str, now_s: float) -> None:
    """Take over every file's newest stamp; rows that the log lacks are to be published again."""
    known = {row.path: row for row in manifest.below("")}
    manifest.unpublish()
    rows: list[Known] = []
    living: set[UUID] = set()
    async for stamp in log.stamps(vault_id):
        if stamp.change != "removed":
            living.add(stamp.page_id)
        elif stamp.page_id in living:
            continue  # the tombstone that a moved page left: it follows the page's new place in the log
        rows.append(_row(stamp, known.get(stamp.path), now_s))
        if len(rows) >= _BATCH:
            manifest.apply(rows)
            rows = []
    manifest.apply(rows)
    if living:
        _log.info("manifest rebuilt from the log", vault=vault_id, files=len(living))


def _row(stamp: FileStamp, known: Known | None, now_s: float) -> Known:
    return Known(
        path=stamp.path,
        disk_path=stamp.disk_path,
        size=stamp.size_bytes,
        mtime_ns=None,
        inode=None if known is None else known.inode,
        content_hash=stamp.content_hash,
        page_id=stamp.page_id,
        change=stamp.change,
        at_s=now_s,
    )
