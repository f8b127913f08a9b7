"""Settings of the ingest service (`CITEBUS_INGEST_*`). Read once, in `__main__`."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class IngestSettings(BaseSettings):
    """How much is worked at once."""

    model_config = SettingsConfigDict(env_prefix="CITEBUS_INGEST_", env_ignore_empty=True, frozen=True, extra="ignore")

    workers: int = Field(default=2, ge=1, le=32, description="Batches of files worked at once in one process.")
    file_batch: int = Field(default=64, ge=1, le=1_000, description="Files of one transaction, at most.")
    embedders: int = Field(default=2, ge=1, le=32, description="Batches of texts embedded at once in one process.")
    text_batch: int = Field(default=64, ge=1, le=1_000, description="Texts embedded in one call, at most.")
    sweep_s: float = Field(default=300.0, ge=1, description="How often texts that lack a vector are queued again.")
    keep_vectors_days: int = Field(default=30, ge=1, description="Vectors of texts that are gone are kept so long.")
