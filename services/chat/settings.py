"""Settings of the chat service, from the environment (`CITEBUS_CHAT_*`); read once, in `__main__`."""

from __future__ import annotations

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.chat.answering import AnswerBounds
from services.chat.asking_provider import Patience


class ChatSettings(BaseSettings):
    """Limits of answering."""

    model_config = SettingsConfigDict(env_prefix="CITEBUS_CHAT_", env_ignore_empty=True, frozen=True, extra="ignore")

    max_turns: int = Field(default=32, ge=1, le=1000, description="Questions that one process answers at once.")
    max_answer_bytes: int = Field(
        default=262_144, ge=1024, le=524_288, description="Longest answer, as UTF-8; a longer one is cut."
    )
    search_deadline_ms: int = Field(default=10_000, ge=100, le=60_000, description="What the search may take.")
    grace_s: float = Field(default=10.0, ge=1, le=60, description="What running turns may take to end at a shutdown.")
    pool_size: int = Field(default=6, ge=1, le=64, description="Connections to Postgres.")
    postgres_dsn: SecretStr | None = Field(
        default=None, description="Of the role `citebus_chat`; unset: CITEBUS_POSTGRES_DSN."
    )

    def bounds(self, patience: Patience) -> AnswerBounds:
        """Return the limits of one answer by a provider that may be silent so long."""
        return AnswerBounds(self.search_deadline_ms, self.max_answer_bytes, patience)
