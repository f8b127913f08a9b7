"""Settings of the scorer, from the environment variables `CITEBUS_SCORING_*`. Read once, in `__main__`."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, HttpUrl, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class ScoringSettings(BaseSettings):
    """Which model says how well a text answers a query: for profiles that rerank, and for sentences of an answer."""

    model_config = SettingsConfigDict(
        env_prefix="CITEBUS_SCORING_", env_ignore_empty=True, frozen=True, extra="ignore", hide_input_in_errors=True
    )

    provider: Literal["bundled", "cohere", "tei"] = Field(
        default="bundled",
        description="bundled: offline, English; cohere: the rerank API that Cohere, Jina, vLLM and others have; tei.",
    )
    model: str | None = Field(default=None, description="cohere: the provider's name of the model.")
    base_url: HttpUrl | None = Field(default=None, description="Address up to, and without, /rerank.")
    api_key: SecretStr | None = Field(default=None, description="Sent as bearer token.")
    timeout_s: float = Field(default=10.0, gt=0, le=120, description="For one request, whole.")
    window_tokens: int = Field(
        default=256, ge=32, le=512, description="bundled: read of query and text together; 512 take twice the time."
    )
    threads: int = Field(default=2, ge=1, le=64, description="bundled: texts scored at once.")

    @model_validator(mode="after")
    def _fits_the_provider(self) -> Self:
        if self.provider != "bundled" and self.base_url is None:
            raise ValueError(f"provider `{self.provider}` needs CITEBUS_SCORING_BASE_URL, like http://127.0.0.1:8080")
        if self.provider == "cohere" and not self.model:
            raise ValueError("provider `cohere` needs CITEBUS_SCORING_MODEL, for instance rerank-v3.5")
        return self
