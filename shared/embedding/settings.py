"""Settings of the embedder, from the environment variables `CITEBUS_EMBEDDING_*`. Read once, in `__main__`."""

from __future__ import annotations

from typing import Literal, Self

import httpx
from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

Provider = Literal["bundled", "openai", "ollama", "hashing"]

OPENAI_URL = "https://api.openai.com/v1"
OLLAMA_URL = "http://127.0.0.1:11434"

_LOCAL_MODELS = {"bundled": "bge-small-en-v1.5", "hashing": "hashing"}

KNOWN_DIMENSIONS = {
    "bge-small-en-v1.5": 384,
    "hashing": 256,
    "all-minilm": 384,
    "bge-m3": 1024,
    "BAAI/bge-m3": 1024,
    "embeddinggemma": 768,
    "mxbai-embed-large": 1024,
    "nomic-embed-text": 768,
    "text-embedding-3-large": 3072,
    "text-embedding-3-small": 1536,
    "text-embedding-ada-002": 1536,
}
"""As the models' cards say, so that the usual ones need no CITEBUS_EMBEDDING_DIMENSION."""


class EmbeddingSettings(BaseSettings):
    """Which model makes the vectors, and how hard it is worked. Model, dimension and document prefix make the space."""

    model_config = SettingsConfigDict(
        env_prefix="CITEBUS_EMBEDDING_", env_ignore_empty=True, frozen=True, extra="ignore", hide_input_in_errors=True
    )

    provider: Provider = Field(default="bundled", description="bundled: offline; openai: any compatible server.")
    model: str | None = Field(default=None, description="The provider's name of the model; openai and ollama need it.")
    dimension: int | None = Field(default=None, ge=1, le=16_384, description="Length of vectors; known models: unset.")
    send_dimension: bool = Field(default=False, description="Ask the model for `dimension`, if it can shorten vectors.")
    base_url: str | None = Field(default=None, description="openai: up to and with /v1; ollama: the server's root.")
    api_key: SecretStr | None = Field(default=None, description="Sent as bearer token.")
    encoding: Literal["float", "base64"] = Field(default="float", description="openai: how vectors travel.")
    document_prefix: str = Field(default="", description="Before each document, e.g. `search_document: `.")
    query_prefix: str = Field(default="", description="Before each query, e.g. `search_query: `.")
    window_tokens: int | None = Field(
        default=None, ge=16, description="Longer texts (estimated) are pooled; null: openai 7,500, ollama 2,000."
    )
    max_windows: int = Field(default=64, ge=1, le=1_024, description="Windows that one text may cost.")
    batch_texts: int = Field(default=64, ge=1, le=2_048, description="Texts in one request.")
    batch_chars: int = Field(default=200_000, ge=1_000, description="Characters in one request.")
    concurrency: int = Field(default=4, ge=1, le=64, description="Requests at once.")
    timeout_s: float = Field(default=60.0, gt=0, le=600, description="For one request, whole.")
    retry_attempts: int = Field(default=5, ge=1, le=20, description="Calls of one request, the first one included.")
    threads: int = Field(default=2, ge=1, le=64, description="bundled: threads for documents; queries have their own.")

    @field_validator("base_url")
    @classmethod
    def _is_http(cls, value: str | None) -> str | None:
        if value is None:
            return None
        try:
            url = httpx.URL(value)
        except httpx.InvalidURL as error:
            raise ValueError("CITEBUS_EMBEDDING_BASE_URL is no URL; like http://127.0.0.1:8000/v1") from error
        if url.scheme not in {"http", "https"} or not url.host or url.query or url.userinfo:
            raise ValueError(
                "CITEBUS_EMBEDDING_BASE_URL must be http(s)://host[:port][/path], like http://127.0.0.1:8000/v1; "
                "the key goes into CITEBUS_EMBEDDING_API_KEY"
            )
        return value.rstrip("/")

    @field_validator("api_key")
    @classmethod
    def _is_a_header(cls, value: SecretStr | None) -> SecretStr | None:
        key = value.get_secret_value() if value else ""
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ValueError("CITEBUS_EMBEDDING_API_KEY holds a blank, a line end or a letter that no key has")
        return value

    @model_validator(mode="after")
    def _fits_the_provider(self) -> Self:
        check = self._check_remote if self.provider in {"openai", "ollama"} else self._check_local
        check()
        return self

    @property
    def url(self) -> str:
        """Base URL of the provider, its usual one unless set."""
        return self.base_url or (OPENAI_URL if self.provider == "openai" else OLLAMA_URL)

    @property
    def model_name(self) -> str:
        """The provider's name of the model."""
        return self.model or _LOCAL_MODELS[self.provider]

    @property
    def vector_dimension(self) -> int:
        """Length of the vectors."""
        return self.dimension or KNOWN_DIMENSIONS[_untagged(self.model_name)]

    def _check_remote(self) -> None:
        if not self.model:
            raise ValueError(f"provider `{self.provider}` needs CITEBUS_EMBEDDING_MODEL, for instance bge-m3")
        if self.dimension is None and _untagged(self.model) not in KNOWN_DIMENSIONS:
            raise ValueError(
                f"the dimension of `{self.model}` is not known here: set CITEBUS_EMBEDDING_DIMENSION to the length of "
                "its vectors (its model card says it)"
            )
        if self.url == OPENAI_URL and not self.api_key:
            raise ValueError(
                "api.openai.com needs CITEBUS_EMBEDDING_API_KEY; for another server set CITEBUS_EMBEDDING_BASE_URL"
            )

    def _check_local(self) -> None:
        if self.model_name != _LOCAL_MODELS[self.provider]:
            raise ValueError(
                f"provider `{self.provider}` has one model, {_LOCAL_MODELS[self.provider]}: remove "
                "CITEBUS_EMBEDDING_MODEL, or set CITEBUS_EMBEDDING_PROVIDER to openai or ollama"
            )
        if self.provider == "bundled" and self.dimension not in {None, 384}:
            raise ValueError("the bundled model has 384 dimensions: remove CITEBUS_EMBEDDING_DIMENSION")


def _untagged(model: str) -> str:
    """Return Ollama's model name without its tag: `bge-m3:latest` has the dimension of `bge-m3`."""
    return model.partition(":")[0]
