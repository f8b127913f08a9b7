"""What every message has in common: frozen, typed by a hand-written `type`, and open to fields it does not know."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

VaultId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,63}$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Record(BaseModel):
    """A part of a message. Readers ignore unknown fields; writers may only add optional ones within a major."""

    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_bytes="base64", val_json_bytes="base64")


class Message(Record):
    """A whole message. Each subclass fixes its own `type`, a literal like `citebus.file.changed.v1`."""

    def to_json(self) -> bytes:
        """Return the message as it goes over the bus: JSON, UTF-8, absent optional fields left out."""
        return self.model_dump_json(exclude_none=True).encode()
