"""`.citebus.toml` at a vault's root: what the vault is called, which files are pages, what may be cited.

    id = "team-notes"            # else made from the folder's name
    include = ["*.md"]           # patterns as in .gitignore
    exclude = ["drafts/"]
    never_cite = ["raw/"]
    language = "de"              # where a page says no `lang` and is too short to tell; else en

    [schema]
    strict = true
    required = ["title"]
    allowed.status = ["draft", "final"]
    exempt = ["raw/"]

An unknown key is an error, not ignored: a misspelt `exclude` would publish what was meant to stay out.
"""

from __future__ import annotations

import difflib
import hashlib
import re
import tomllib
import unicodedata
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shared.contracts.files import SchemaRules, VaultSettings
from shared.errors import InvalidInput
from shared.ids import VAULT_ID

SETTINGS_FILE = ".citebus.toml"
"""Name of the file, at the vault's root."""


class _Schema(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    strict: bool = False
    required: list[str] = []
    allowed: dict[str, list[str]] = {}
    exempt: list[str] = list(SchemaRules().exempt)


class _SettingsFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    id: str | None = Field(default=None, pattern=f"^{VAULT_ID.pattern}$")
    include: list[str] = list(VaultSettings.model_fields["include"].default)
    exclude: list[str] = []
    never_cite: list[str] = list(VaultSettings.model_fields["never_cite"].default)
    language: str | None = Field(default=None, pattern="^[a-z]{2}$")
    rules: _Schema = Field(default=_Schema(), alias="schema")


def read_settings(root: Path) -> VaultSettings:
    """Return the settings of the vault at `root`; without a settings file, the defaults.

    Raises InvalidInput, naming line and key, when the file can't be read or is wrong.
    """
    path = root / SETTINGS_FILE
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        text = ""
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: not UTF-8; save it as UTF-8") from error
    except OSError as error:
        raise InvalidInput(f"{path}: can't be read: {error.strerror}") from error
    return _settings(path, text)


def vault_id_of(folder_name: str) -> str:
    """Return the id that a folder's name gives: ASCII letters and digits in lower case, other runs as one hyphen.

    A name without any of them gives `vault-` and 8 hex digits of its hash.
    """
    plain = unicodedata.normalize("NFKD", folder_name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:63].rstrip("-")
    return slug or "vault-" + hashlib.sha256(folder_name.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def _settings(path: Path, text: str) -> VaultSettings:
    try:
        parsed = _SettingsFile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path}: not TOML: {error}") from error
    except ValidationError as error:
        raise InvalidInput(f"{path}: " + "; ".join(_sentences(error, text))) from error
    rules = parsed.rules
    return VaultSettings(
        vault_id=parsed.id or vault_id_of(path.parent.resolve().name),
        include=tuple(parsed.include),
        exclude=tuple(parsed.exclude),
        never_cite=tuple(parsed.never_cite),
        language=parsed.language,
        rules=SchemaRules(
            strict=rules.strict,
            required=tuple(rules.required),
            allowed={field: tuple(values) for field, values in rules.allowed.items()},
            exempt=tuple(rules.exempt),
        ),
    )


def _sentences(error: ValidationError, text: str) -> list[str]:
    return [_sentence(item["type"], tuple(map(str, item["loc"])), item["msg"], text) for item in error.errors()]


def _sentence(kind: str, location: tuple[str, ...], message: str, text: str) -> str:
    key = ".".join(location)
    where = _line_of(location, text)
    if kind != "extra_forbidden":
        return f"{where}`{key}`: {message[:1].lower()}{message[1:]}"
    known = ["strict", "required", "allowed", "exempt"] if location[0] == "schema" else _top_level_keys()
    near = difflib.get_close_matches(location[-1], known, n=3)
    hint = "did you mean " + " or ".join(f"`{name}`" for name in near) if near else "known are " + ", ".join(known)
    return f"{where}unknown key `{key}`; {hint}"


def _top_level_keys() -> list[str]:
    return [field.alias or name for name, field in _SettingsFile.model_fields.items()]


def _line_of(location: tuple[str, ...], text: str) -> str:
    names = [part for part in location if not part.isdigit()]
    lines = text.splitlines()
    for name in reversed(names):
        pattern = re.compile(rf"""^\s*(?:\[+\s*)?(?:[\w.-]+\.)?["']?{re.escape(name)}["']?\s*[.=\]]""")
        for number, line in enumerate(lines, start=1):
            if pattern.match(line):
                return f"line {number}: "
    return ""
