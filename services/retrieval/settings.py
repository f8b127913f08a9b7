"""Settings of the retrieval service, from the environment (`CITEBUS_RETRIEVAL_*`); read once, in `__main__`."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.retrieval.profiles import BUILT_IN, ProfileSettings
from services.retrieval.searching import SearchBounds
from services.retrieval.seeding import SeedBounds


class RetrievalSettings(BaseSettings):
    """How the service searches. `profiles`, as JSON (`{"words": {"kind": "sparse"}}`), add to the built-in ones."""

    model_config = SettingsConfigDict(env_prefix="CITEBUS_RETRIEVAL_", frozen=True, extra="ignore")

    default_profile: str = Field(default="hybrid", description="Profile of requests that name none.")
    profiles: dict[str, ProfileSettings] = Field(default_factory=dict, description="More profiles, by name.")
    candidates: int = Field(default=32, ge=10, le=1000, description="Depth of each ranking before fusion.")
    max_expansions: int = Field(default=12, ge=0, le=256, description="Linked pages added to one search, at most.")
    fan_out: int = Field(default=32, ge=1, le=256, description="Linked pages taken from one page, at most.")
    degree_limit: int = Field(default=64, ge=1, le=1000, description="A page with more links is not walked through.")
    hub_stems: tuple[str, ...] = Field(
        default=("index", "log", "overview"), description="File stems of pages that only list others."
    )
    embed_share: float = Field(default=0.5, gt=0, le=1, description="Part of the deadline that embedding may take.")
    vault_max_age_s: float = Field(default=1.0, ge=0, le=60, description="How long settings of a vault are kept.")
    pool_size: int = Field(default=4, ge=1, le=64, description="Connections to Postgres.")

    def all_profiles(self) -> dict[str, ProfileSettings]:
        """Return the built-in profiles with those of the settings over them."""
        return {**BUILT_IN, **self.profiles}

    def bounds(self) -> SearchBounds:
        """Return the limits of one search."""
        return SearchBounds(
            seeds=SeedBounds(depth=self.candidates),
            max_expansions=self.max_expansions,
            fan_out=self.fan_out,
            degree_limit=self.degree_limit,
            embed_share=self.embed_share,
        )
