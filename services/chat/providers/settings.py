"""Which provider answers which operation, from the environment (`CITEBUS_CHAT_*`). Read once, in `__main__`.

The simple variables are the default of every operation; `CITEBUS_CHAT_OPERATIONS`, JSON, changes single ones:
`{"judge": {"provider": "anthropic", "model": "claude-sonnet-4-5"}}`. An operation that names another provider inherits
limits, but neither model nor address nor key. Keys are secrets from here to the request: no repr, log or error shows
them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.chat.providers.spec import ANTHROPIC_URL, OPENAI_URL, Limits, ProviderName, ProviderSpec

Operation = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]

OPERATIONS = ("chat", "judge", "rewrite")
"""Those that citebus asks for (`chat`: a request's default); the settings may name more, for requests to choose."""

USUAL_URLS = {
    "extractive": "",
    "openai": OPENAI_URL,
    "anthropic": ANTHROPIC_URL,
    "ollama": "http://127.0.0.1:11434",
    "agent": ANTHROPIC_URL,
}


class OperationSettings(BaseModel):
    """What one operation does differently; null: as the default."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    provider: ProviderName | None = None
    model: str | None = None
    base_url: str | None = None
    api_key: SecretStr | None = None
    max_answer_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    context_window: int | None = Field(default=None, ge=256, le=10_000_000)
    temperature: float | None = Field(default=None, ge=0, le=2)
    timeout_s: float | None = Field(default=None, gt=0, le=3_600)


class ChatProviderSettings(BaseSettings):
    """Who answers: provider, model, key and limits, for all operations or for single ones."""

    model_config = SettingsConfigDict(
        env_prefix="CITEBUS_CHAT_",
        env_ignore_empty=True,
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,
        populate_by_name=True,
    )

    provider: ProviderName = Field(
        default="extractive", description="extractive: offline, no model; openai: any compatible server."
    )
    model: str | None = Field(default=None, description="The provider's name of the model; extractive has none.")
    base_url: str | None = Field(default=None, description="openai: up to and with /v1; else the server's root.")
    api_key: SecretStr | None = Field(default=None, description="Before the provider's own variable.")
    openai_api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("CITEBUS_CHAT_OPENAI_API_KEY", "OPENAI_API_KEY"),
        description="Or OPENAI_API_KEY.",
    )
    anthropic_api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("CITEBUS_CHAT_ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY"),
        description="Or ANTHROPIC_API_KEY; of the agent, too.",
    )
    ollama_api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("CITEBUS_CHAT_OLLAMA_API_KEY", "OLLAMA_API_KEY"),
        description="Or OLLAMA_API_KEY; a local server needs none.",
    )
    operations: dict[Operation, OperationSettings] = Field(
        default_factory=dict, description="JSON: what `chat`, `judge`, `rewrite` or one of your own does differently."
    )
    max_answer_tokens: int = Field(default=2_048, ge=1, le=1_000_000, description="Tokens of one answer.")
    context_window: int = Field(default=32_768, ge=256, le=10_000_000, description="Tokens; ollama is told to keep it.")
    temperature: float | None = Field(default=None, ge=0, le=2, description="Unset: the model's own.")
    connect_timeout_s: float = Field(default=5.0, gt=0, le=60, description="To reach the server.")
    first_byte_timeout_s: float = Field(default=60.0, gt=0, le=600, description="Until the model says its first word.")
    idle_timeout_s: float = Field(default=30.0, gt=0, le=600, description="Between two words.")
    timeout_s: float = Field(default=300.0, gt=0, le=3_600, description="For one answer, whole.")
    agent_max_turns: int = Field(
        default=8,
        ge=1,
        le=100,
        validation_alias=AliasChoices("CITEBUS_CHAT_AGENT_MAX_TURNS", "CHAT_AGENT_MAX_TURNS"),
        description="Or CHAT_AGENT_MAX_TURNS: steps of the agent for one answer.",
    )
    agent_token_budget: int = Field(
        default=100_000, ge=1_000, le=10_000_000, description="Tokens, in and out, of all steps of one answer."
    )
    agent_concurrency: int = Field(default=2, ge=1, le=32, description="Agents at once: each is a process.")
    agent_cli: Path | None = Field(default=None, description="Executable of the agent; unset: the one in its wheel.")
    prices_file: Path | None = Field(default=None, description="Your table of prices, instead of the one that ships.")

    @field_validator("base_url")
    @classmethod
    def _is_http(cls, value: str | None) -> str | None:
        return None if value is None else checked_url(value)

    @field_validator("operations")
    @classmethod
    def _are_http(cls, value: dict[Operation, OperationSettings]) -> dict[Operation, OperationSettings]:
        for setting in value.values():
            if setting.base_url is not None:
                checked_url(setting.base_url)
        return value

    @model_validator(mode="after")
    def _every_operation_is_whole(self) -> Self:
        for operation in self.known_operations:
            spec = self.spec(operation)
            if spec.provider not in {"extractive", "agent"} and not spec.model:
                raise ValueError(f"operation `{operation}`: provider `{spec.provider}` needs CITEBUS_CHAT_MODEL")
            _check_key(spec)
        return self

    @property
    def known_operations(self) -> tuple[str, ...]:
        """Every operation that somebody may ask for, each once."""
        return tuple(dict.fromkeys((*OPERATIONS, *self.operations)))

    def spec(self, operation: str) -> ProviderSpec:
        """Return who does an operation, and within which limits; one that is not named has the default."""
        own = self.operations.get(operation, OperationSettings())
        provider = own.provider or self.provider
        inherits = provider == self.provider
        return ProviderSpec(
            provider=provider,
            model=own.model or (self.model if inherits else None) or "",
            base_url=(own.base_url or (self.base_url if inherits else None) or USUAL_URLS[provider]).rstrip("/"),
            api_key=own.api_key or (self.api_key if inherits else None) or self._usual_key(provider),
            limits=self._limits(own),
        )

    def _usual_key(self, provider: ProviderName) -> SecretStr | None:
        return {
            "openai": self.openai_api_key,
            "anthropic": self.anthropic_api_key,
            "agent": self.anthropic_api_key,
            "ollama": self.ollama_api_key,
        }.get(provider)

    def _limits(self, own: OperationSettings) -> Limits:
        return Limits(
            max_answer_tokens=own.max_answer_tokens or self.max_answer_tokens,
            context_window=own.context_window or self.context_window,
            temperature=self.temperature if own.temperature is None else own.temperature,
            connect_timeout_s=self.connect_timeout_s,
            first_byte_timeout_s=self.first_byte_timeout_s,
            idle_timeout_s=self.idle_timeout_s,
            timeout_s=own.timeout_s or self.timeout_s,
        )


def checked_url(value: str) -> str:
    """Return a base URL as it is; ValueError unless it is http(s)://host[:port][/path]."""
    try:
        url = urlsplit(value)
        valid = url.scheme in {"http", "https"} and url.hostname and (url.port or 1) and not url.query
    except ValueError:
        valid, url = False, urlsplit("")
    if not valid or url.username is not None or url.password is not None:
        raise ValueError("the base URL must be http(s)://host[:port][/path]; the key has a variable of its own")
    return value


def _check_key(spec: ProviderSpec) -> None:
    key = spec.api_key.get_secret_value() if spec.api_key else ""
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ValueError(f"the key of provider `{spec.provider}` holds a blank, a line end or a letter that no key has")
