"""What decides, besides a file's bytes and path, which page comes out of it: a changed value means: work it again."""

from __future__ import annotations

import json
from dataclasses import asdict

from services.ingest.text.chunking import CHUNKER_VERSION
from services.ingest.text.splitting import ChunkerSettings
from shared.contracts.files import VaultSettings
from shared.ids import content_hash
from shared.vectors.bm25 import BM25_VERSION

PREPARATION_VERSION = 2
"""Raised when the same file would give another title, language, payload, links, days or problems; see the chunker's."""


def config_hash(settings: VaultSettings, chunker: ChunkerSettings | None = None) -> str:
    """Return the hash of all settings and code versions that change what a file becomes.

    Includes, excludes and `never_cite` are not among them: they decide which files come and what is cited, not what a
    page is. Rules count only where they are strict, since otherwise nothing is checked.
    """
    rules = settings.rules.model_dump(mode="json") if settings.rules.strict else None
    decisive = {
        "chunker_version": CHUNKER_VERSION,
        "bm25_version": BM25_VERSION,
        "preparation_version": PREPARATION_VERSION,
        "chunker": asdict(chunker or ChunkerSettings()),
        "language": settings.language,
        "rules": rules,
    }
    return content_hash(json.dumps(decisive, sort_keys=True))
