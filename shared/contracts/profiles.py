"""What the retrieval service says of its profiles in the metadata of its endpoint `search` (`$SRV.INFO`)."""

from __future__ import annotations

from pydantic import Field, JsonValue

from shared.contracts.message import Record

PROFILES_KEY = "profiles"
"""Key of the metadata; its value is a ProfileList as JSON."""


class ProfileInfo(Record):
    """One named way to search."""

    name: str
    kind: str = Field(description="The retriever that everything else refines: dense, sparse or hybrid.")
    settings: dict[str, JsonValue] = Field(
        description="What the profile was given, as CITEBUS_RETRIEVAL_PROFILES has it."
    )
    default: bool = Field(description="It answers requests that name no profile.")
    needs: tuple[str, ...] = Field(description="What it asks besides the vector store and the catalogue.")
    ready: bool = Field(description="Everything that it needs is installed and configured.")
    missing: str | None = Field(default=None, description="When not ready: what to do.")


class ProfileList(Record):
    """All profiles of a service, by name."""

    profiles: tuple[ProfileInfo, ...]
