"""Settings of the retrieval service, from the environment (`CITEBUS_RETRIEVAL_*`); read once, in `__main__`."""

from __future__ import annotations

from typing import Self

from pydantic import Field, HttpUrl, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.retrieval.budget import DEFAULT_PAGE_SHARE
from services.retrieval.profile_settings import BUILT_IN, ProfileName, ProfileSettings
from services.retrieval.searching import SearchBounds
from services.retrieval.seeding import SeedBounds
from shared.page_graph import DEGREE_LIMIT, GENERATED_STEMS


class RetrievalSettings(BaseSettings):
    """How the service searches. `profiles`, as JSON (`{"words": {"kind": "sparse"}}`), add to the built-in ones."""

    model_config = SettingsConfigDict(
        env_prefix="CITEBUS_RETRIEVAL_", env_ignore_empty=True, frozen=True, extra="ignore", hide_input_in_errors=True
    )

    default_profile: str = Field(default="hybrid", description="Profile of requests that name none.")
    profiles: dict[ProfileName, ProfileSettings] = Field(
        default_factory=dict,
        max_length=64,
        description="More profiles, by name: `kind` (dense, sparse, hybrid), for hybrid `rrf_k`, `dense_weight`, "
        "`sparse_weight`, and what refines it: `multi_query` (`count`, `weight`, `time_share`), `rerank` (`depth`, "
        "`weight`, `time_share`), `mmr` (`lambda`, `depth`).",
    )
    rewriter_base_url: HttpUrl | None = Field(
        default=None, description="OpenAI-compatible chat API, up to and with /v1, that rewords for `multi_query`."
    )
    rewriter_model: str | None = Field(default=None, description="Its name of the model.")
    rewriter_api_key: SecretStr | None = Field(default=None, description="Sent as bearer token.")
    candidates: int = Field(default=32, ge=10, le=1000, description="Depth of each ranking before fusion.")
    max_expansions: int = Field(default=12, ge=0, le=256, description="Linked pages added to one search, at most.")
    fan_out: int = Field(default=32, ge=1, le=256, description="Linked pages taken from one page, at most.")
    degree_limit: int = Field(
        default=DEGREE_LIMIT, ge=1, le=1000, description="A page with more links is not walked through."
    )
    hub_stems: tuple[str, ...] = Field(
        default=GENERATED_STEMS, description="File stems of pages that only list others."
    )
    embed_share: float = Field(default=0.5, gt=0, le=1, description="Part of the deadline that embedding may take.")
    page_share: float = Field(
        default=DEFAULT_PAGE_SHARE, ge=0, le=1, description="Part of the budget for one page while others wait; 1: all."
    )
    stale_penalty: int = Field(
        default=1,
        ge=0,
        le=1000,
        description="Places by which a chunk steps back whose page is older than a source of it; 0: it is only marked.",
    )
    completed_seeds: int = Field(
        default=0,
        ge=0,
        le=50,
        description="Best chunks whose neighbours on the page fill what is left of the budget, for one more read.",
    )
    vault_max_age_s: float = Field(default=1.0, ge=0, le=60, description="How long settings of a vault are kept.")
    pool_size: int = Field(default=4, ge=1, le=64, description="Connections to Postgres.")

    @model_validator(mode="after")
    def _rewriter_is_whole(self) -> Self:
        if (self.rewriter_base_url is None) != (self.rewriter_model is None):
            raise ValueError("CITEBUS_RETRIEVAL_REWRITER_BASE_URL and CITEBUS_RETRIEVAL_REWRITER_MODEL go together")
        return self

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
            page_share=self.page_share,
            stale_penalty=self.stale_penalty,
            completed_seeds=self.completed_seeds,
        )
