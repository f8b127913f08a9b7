"""Settings of the chat service, from the environment (`CITEBUS_CHAT_*`); read once, in `__main__`."""

from __future__ import annotations

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.chat.answering import AnswerBounds


class ChatSettings(BaseSettings):
    """Limits of answering."""

    model_config = SettingsConfigDict(env_prefix="CITEBUS_CHAT_", env_ignore_empty=True, frozen=True, extra="ignore")

    max_turns: int = Field(default=32, ge=1, le=1000, description="Questions that one process answers at once.")
    max_answer_bytes: int = Field(
        default=262_144, ge=1024, le=524_288, description="Longest answer, as UTF-8; a longer one is cut."
    )
    first_token_s: float = Field(
        default=90.0, gt=0, le=600, description="Whatever the provider's own limit: silence before its first word."
    )
    idle_s: float = Field(
        default=45.0, gt=0, le=600, description="Whatever the provider's own limit: silence between two words."
    )
    search_deadline_ms: int = Field(default=10_000, ge=100, le=60_000, description="What the search may take.")
    grace_s: float = Field(default=10.0, ge=1, le=60, description="What running turns may take to end at a shutdown.")
    pool_size: int = Field(default=6, ge=1, le=64, description="Connections to Postgres.")
    postgres_dsn: SecretStr | None = Field(
        default=None, description="Of the role `citebus_chat`; unset: CITEBUS_POSTGRES_DSN."
    )

    def bounds(self) -> AnswerBounds:
        """Return the limits of one answer."""
        return AnswerBounds(
            search_deadline_ms=self.search_deadline_ms,
            first_token_s=self.first_token_s,
            idle_s=self.idle_s,
            max_answer_bytes=self.max_answer_bytes,
        )
