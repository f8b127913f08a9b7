"""What the chat service says of its provider in the metadata of its endpoint `chat` (`$SRV.INFO`)."""

from __future__ import annotations

from pydantic import Field

from shared.contracts.message import Record

PROVIDER_KEY = "provider"
"""Key of the metadata; its value is a ProviderInfo as JSON."""


class ProviderInfo(Record):
    """Who answers questions that name no provider."""

    provider: str
    model: str | None = Field(default=None, description="As the settings name it; null: it has none, or its own.")
    base_url: str | None = Field(default=None, description="Where it is asked; null: on this machine, in the service.")
    priced: bool = Field(description="Its price is known: costs of answers are numbers, not null.")
    ready: bool = Field(description="It has what it needs: package, key.")
    missing: str | None = Field(default=None, description="When not ready: what to do.")
