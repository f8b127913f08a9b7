"""Decides which page each changed file is, and asks the log for the old text where the names alone don't tell."""

from __future__ import annotations

import asyncio

from services.ingest.watcher.changes import Step, plan, recreated, similar
from services.ingest.watcher.files import Known
from services.ingest.watcher.manifest import Manifest
from services.ingest.watcher.ports import FileLog
from services.ingest.watcher.reading import Content, read_file
from services.ingest.watcher.slices import Place
from services.ingest.watcher.survey import Survey


async def plan_survey(place: Place, survey: Survey, manifest: Manifest, log: FileLog) -> list[Step]:
    """Return what to publish for a survey, in order. Raises Unavailable."""
    moves = {**survey.moves, **await _edited(place, survey, log)}
    moves.update(recreated(survey.difference, survey.hashes, moves, survey.removed))
    return plan(place.vault_id, survey.difference, moves, manifest.get, manifest.holders)


async def _edited(place: Place, survey: Survey, log: FileLog) -> dict[str, Known]:
    """Return the pages that moved and were edited on the way, by new path."""
    found: dict[str, Known] = {}
    disk_paths = {entry.path: entry.disk_path for entry in survey.difference.fresh if entry.problem is None}
    for path in survey.perhaps_edited.keys() & disk_paths.keys():
        row = survey.perhaps_edited[path]
        before = await log.newest(place.vault_id, row.path)
        now = await asyncio.to_thread(read_file, f"{place.root}/{disk_paths[path]}", place.max_bytes)
        if before is not None and before.content and isinstance(now, Content) and similar(before.content, now.data):
            found[path] = row
    return found
