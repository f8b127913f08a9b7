"""Settings that several services share, from the environment (`CITEBUS_*`). Read once, in `__main__`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from shared.errors import InvalidInput
from shared.topology import Topology

SettingsT = TypeVar("SettingsT", bound=BaseSettings)


def settings_from_environment(kind: type[SettingsT]) -> SettingsT:
    """Read settings; raises InvalidInput that names the variable and what is wrong with it, never its value."""
    try:
        return kind()
    except ValidationError as error:
        prefix = str(kind.model_config.get("env_prefix", ""))
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        name = prefix + "_".join(str(part).upper() for part in first["loc"]) if first["loc"] else f"{prefix}*"
        raise InvalidInput(f"The setting {name} is wrong: {first['msg']}; docs/settings.md lists them all.") from error


class ServiceSettings(BaseSettings):
    """Where the servers are, and how the process logs."""

    model_config = SettingsConfigDict(env_prefix="CITEBUS_", env_ignore_empty=True, frozen=True, extra="ignore")

    nats_url: str = Field(default="nats://127.0.0.1:4222", description="With user and password, if the server asks.")
    namespace: str = Field(default="citebus", pattern=r"^[a-z0-9-]{1,32}$", description="First token of all subjects.")
    postgres_dsn: SecretStr = Field(default=SecretStr("postgresql://citebus@127.0.0.1/citebus"))
    qdrant_url: str | None = Field(default=None, description="Qdrant server; unset: the in-process engine.")
    qdrant_api_key: SecretStr | None = None
    edge_dir: Path | None = Field(default=None, description="Folder of the in-process engine; one process opens it.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_format: Literal["console", "json"] = "json"

    @property
    def topology(self) -> Topology:
        """Names on the bus."""
        return Topology(self.namespace)
