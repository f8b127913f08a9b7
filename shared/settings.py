"""Settings that several services share, from the environment (`CITEBUS_*`). Read once, in `__main__`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from shared.errors import InvalidInput
from shared.topology import Topology

SettingsT = TypeVar("SettingsT", bound=BaseSettings)


def settings_from_environment(kind: type[SettingsT]) -> SettingsT:
    """Read settings; raises InvalidInput that names the variable and what is wrong with it, never its value."""
    prefix = str(kind.model_config.get("env_prefix", ""))
    try:
        return kind()
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field, *inside = (str(part) for part in first["loc"] or ("*",))
        where = f"{'.'.join(inside)}: " if inside else ""
        raise _wrong(f"{prefix}{field.upper()}", f"{where}{first['msg']}") from error
    except SettingsError as error:  # a structured value that is no JSON; the cause says where it stops being it
        field = next((name for name in kind.model_fields if f'"{name}"' in str(error)), "*")
        raise _wrong(f"{prefix}{field.upper()}", f"it is no JSON ({error.__cause__})") from error


def _wrong(variable: str, why: str) -> InvalidInput:
    return InvalidInput(f"The setting {variable} is wrong: {why}; docs/settings.md lists them all.")


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
