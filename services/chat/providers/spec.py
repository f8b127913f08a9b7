"""A provider as its adapter sees it: which model, where, with which key, within which limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from pydantic import SecretStr

from shared.errors import InvalidInput

ProviderName = Literal["extractive", "openai", "anthropic", "ollama", "agent"]

KEY_VARIABLES = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "agent": "ANTHROPIC_API_KEY",
    "ollama": "OLLAMA_API_KEY",
}
"""As each provider's own tools call it."""

OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com"

_CHARS_PER_TOKEN = 16
"""More than any tokenizer averages over a text, so a provider that keeps its own limit is never cut here."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one answer may take. Times in seconds."""

    max_answer_tokens: int = 2_048
    context_window: int = 32_768
    """Tokens; only Ollama must be told."""
    temperature: float | None = None
    """None: the model's own. Some models refuse any other."""
    connect_timeout_s: float = 5.0
    first_byte_timeout_s: float = 60.0
    """Until the first event of the answer: a local model reads its prompt first."""
    idle_timeout_s: float = 30.0
    """Between two events."""
    timeout_s: float = 300.0
    """For the whole answer."""

    @property
    def max_answer_chars(self) -> int:
        """Where an answer is cut when the provider does not keep to its tokens."""
        return self.max_answer_tokens * _CHARS_PER_TOKEN


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """Who answers."""

    provider: ProviderName
    model: str = ""
    base_url: str = ""
    api_key: SecretStr | None = field(default=None, repr=False)
    limits: Limits = field(default_factory=Limits)

    @property
    def label(self) -> str:
        """How messages call it: the adapter's name and the server, without path and key."""
        return f"the chat provider {self.provider} at {urlsplit(self.base_url).netloc}"

    @property
    def key_variable(self) -> str:
        """Where its key usually stands."""
        return KEY_VARIABLES.get(self.provider, "")

    @property
    def key(self) -> str:
        """The key itself, for the request only; empty: none."""
        return self.api_key.get_secret_value() if self.api_key else ""

    def check(self) -> None:
        """Raise InvalidInput that names the variable when a key is needed and there is none."""
        if not self.key and (self.provider in {"anthropic", "agent"} or self.base_url == OPENAI_URL):
            raise InvalidInput(f"{self.label} needs a key: set {self.key_variable} or CITEBUS_CHAT_API_KEY")
