"""Which files are generated, with their text, and how they get to the disk. The same code gives the same bytes."""

from __future__ import annotations

import json
from pathlib import Path

from deploy.documents.asyncapi import asyncapi
from deploy.documents.reference import messages_page
from deploy.documents.schemas import message_types, schema, type_name
from deploy.documents.settings_page import settings_page

Files = dict[str, str]
"""Path below the repository's root to the file's text."""

SCHEMAS = "schemas"


def schemas() -> Files:
    """Return one JSON Schema per message and the AsyncAPI document."""
    found = {f"{SCHEMAS}/{type_name(message)}.json": _json(schema(message)) for message in message_types()}
    return {**found, f"{SCHEMAS}/asyncapi.json": _json(asyncapi())}


def documentation() -> Files:
    """Return the reference pages."""
    return {"docs/messages.md": messages_page(), "docs/settings.md": settings_page()}


def write(files: Files, root: Path) -> list[str]:
    """Bring the disk to what `files` says and return the paths that changed, in order.

    A JSON file in `schemas/` that is not among `files` is deleted when any of them lives there.
    """
    stale = outdated(files, root)
    for path in stale:
        target = root / path
        if path in files:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(files[path], encoding="utf-8")
        else:
            target.unlink()
    return stale


def outdated(files: Files, root: Path) -> list[str]:
    """Return the paths whose text on disk differs, is missing, or should not be there, ascending."""
    differs = {path for path, text in files.items() if _read(root / path) != text}
    return sorted(differs | (_on_disk(root) - set(files) if _are_schemas(files) else set()))


def _are_schemas(files: Files) -> bool:
    return any(path.startswith(f"{SCHEMAS}/") for path in files)


def _on_disk(root: Path) -> set[str]:
    return {f"{SCHEMAS}/{path.name}" for path in (root / SCHEMAS).glob("*.json")}


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
