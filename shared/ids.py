"""Identities that follow from content alone: two machines, or a rebuild, give the same ones (DESIGN invariant 4)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from uuid import UUID

VAULT_ID = re.compile(r"[a-z0-9-]{1,63}")
"""A vault's id is a token of every subject: lower-case letters, digits and hyphens, 1 to 63 of them."""


def normal_path(path: str) -> str:
    """Return the path that identifies a file: NFC, as macOS stores NFD and Linux either."""
    return unicodedata.normalize("NFC", path)


def file_key(path: str) -> str:
    """Return the subject token of a file: the first 32 hex digits of SHA-256 of its NFC path within the vault."""
    return hashlib.sha256(normal_path(path).encode()).hexdigest()[:32]


def content_hash(data: bytes | str) -> str:
    """Return the SHA-256 of bytes, or of text as UTF-8, in 64 hex digits."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def chunk_id(vault_id: str, path: str, index: int, chunk_hash: str) -> UUID:
    """Return a chunk's id from where it stands and what it says.

    `path` is relative to the vault and NFC; `index` counts the page's chunks from 0; `chunk_hash` is the
    content hash of the chunk's own text.
    """
    source = f"{vault_id}/{path}\0{index}\0{chunk_hash}"
    return UUID(bytes=hashlib.sha256(source.encode()).digest()[:16])


def page_id(vault_id: str, path: str, attempt: int = 0) -> UUID:
    """Return the id that a page gets when it is first seen at `path`.

    It stays with the page when the page moves. `attempt` tells apart pages that were born at one path while an
    earlier one, moved away since, still bears the id for a lower attempt.
    """
    source = f"page\0{vault_id}/{path}\0{attempt}"
    return UUID(bytes=hashlib.sha256(source.encode()).digest()[:16])


def slugify(text: str) -> str:
    """Return `text` in lower case with every run of other characters than letters and digits as one hyphen.

    Letters and digits of any script stay, so that a title in any language has a slug; an empty result is `page`.
    """
    plain = unicodedata.normalize("NFKC", text).lower()
    return re.sub(r"[\W_]+", "-", plain).strip("-") or "page"
