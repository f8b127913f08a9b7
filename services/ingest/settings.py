"""Settings of the ingest service (`CITEBUS_INGEST_*`). Read once, in `__main__`."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.ingest.edge_keeping import Pace
from services.ingest.edges import EdgeRules
from services.ingest.preparing import PoolOptions
from shared.page_graph import DEGREE_LIMIT, GENERATED_STEMS


class IngestSettings(BaseSettings):
    """How much is worked at once."""

    model_config = SettingsConfigDict(env_prefix="CITEBUS_INGEST_", env_ignore_empty=True, frozen=True, extra="ignore")

    workers: int = Field(default=2, ge=1, le=32, description="Batches of files worked at once in one process.")
    file_batch: int = Field(default=64, ge=1, le=1_000, description="Files of one transaction, at most.")
    embedders: int = Field(default=2, ge=1, le=32, description="Batches of texts embedded at once in one process.")
    text_batch: int = Field(default=64, ge=1, le=1_000, description="Texts embedded in one call, at most.")
    sweep_s: float = Field(default=300.0, ge=1, description="How often texts that lack a vector are queued again.")
    keep_vectors_days: int = Field(default=30, ge=1, description="Vectors of texts that are gone are kept so long.")
    prepare_processes: int | None = Field(
        default=None, ge=0, le=64, description="Processes that prepare pages in bulk loads; null: one per spare core."
    )
    edge_batch: int = Field(default=256, ge=1, le=4_096, description="Changed pages whose edges are settled at once.")
    edge_quiet_s: float = Field(default=0.05, ge=0, le=60, description="Edges are settled so long after a change.")
    edge_bulk_quiet_s: float = Field(default=1.0, ge=0, le=600, description="The same after a bulk load.")
    degree_limit: int = Field(
        default=DEGREE_LIMIT, ge=1, le=1_000, description="A page linked with more pages lists others: it has no edges."
    )
    source_limit: int = Field(
        default=64, ge=1, le=1_000, description="A source that more pages name does not connect them."
    )
    generated_stems: tuple[str, ...] = Field(
        default=GENERATED_STEMS, description="File stems of pages that only list others: they have no edges."
    )

    def edge_rules(self) -> EdgeRules:
        """Return the limits of the page graph; a change of one makes all edges anew."""
        return EdgeRules(self.degree_limit, self.source_limit, self.generated_stems)

    def edge_pace(self) -> Pace:
        """Return when edges are settled."""
        return Pace(batch=self.edge_batch, quiet_s=self.edge_quiet_s, bulk_quiet_s=self.edge_bulk_quiet_s)

    def pool(self) -> PoolOptions:
        """Return when pages are prepared in processes of their own."""
        return PoolOptions() if self.prepare_processes is None else PoolOptions(processes=self.prepare_processes)
