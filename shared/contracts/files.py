"""What the watcher says about a vault's files (stream FILES) and the settings that go with a vault."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from shared.contracts.message import Message, Record, Sha256, VaultId


class FileChanged(Message):
    """The newest state of one file; FILES keeps only the last one per file, so it is a compacted log of the vault.

    The order of two of them is their order in the stream. A page is wherever the newest `present` with its
    `page_id` is; `removed` with `moved_to` says that the page did not die.
    """

    type: Literal["citebus.file.changed.v1"] = "citebus.file.changed.v1"
    vault_id: VaultId
    path: str = Field(min_length=1, description="Relative to the vault, slashes, NFC.")
    disk_path: str = Field(min_length=1, description="The same as the disk spells it, for people.")
    page_id: UUID = Field(description="Stays with the page when the file moves.")
    change: Literal["present", "removed", "unreadable"]
    content: bytes | None = Field(default=None, description="The file's bytes, base64, when present.")
    content_hash: Sha256 | None = Field(default=None, description="SHA-256 of the bytes, when present.")
    size_bytes: int = Field(default=0, ge=0)
    mtime_ns: int = Field(default=0, description="Modification time, nanoseconds since 1970 UTC.")
    moved_from: str | None = Field(default=None, description="Path that the page had before, when present.")
    moved_to: str | None = Field(default=None, description="Path that the page has now, when removed.")
    reason: str | None = Field(default=None, description="Why the file can't be read, when unreadable.")


class FileStamp(Record):
    """What the header `Citebus-File` of a FileChanged says, so that a manifest is rebuilt from headers alone."""

    path: str
    disk_path: str
    page_id: UUID
    change: Literal["present", "removed", "unreadable"]
    content_hash: str | None = None
    size_bytes: int = 0
    mtime_ns: int = 0


class SchemaRules(Record):
    """What a vault demands of its pages' front matter."""

    strict: bool = Field(default=False, description="Reject a page that breaks a rule; else the rules are not applied.")
    required: tuple[str, ...] = Field(default=(), description="Front matter fields that every page must have.")
    allowed: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="Field to its allowed values; each entry of a list field must be one."
    )
    exempt: tuple[str, ...] = Field(default=("raw/",), description="Path prefixes that the rules do not bind.")


class VaultSettings(Message):
    """What `.citebus.toml` at a vault's root says; kept in the bucket of vaults under the vault's id."""

    type: Literal["citebus.vault.settings.v1"] = "citebus.vault.settings.v1"
    vault_id: VaultId
    include: tuple[str, ...] = Field(default=("*.md", "*.markdown"), description="Patterns as in .gitignore.")
    exclude: tuple[str, ...] = Field(default=(), description="Patterns as in .gitignore; they win over include.")
    never_cite: tuple[str, ...] = Field(default=("raw/",), description="Path prefixes that are indexed, never cited.")
    language: str | None = Field(
        default=None, description="ISO 639-1, where a page says no `lang` and its prose is too short to tell; null: en."
    )
    rules: SchemaRules = SchemaRules()
