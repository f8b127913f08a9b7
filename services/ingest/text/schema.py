"""What a strict vault demands of a page's front matter. Nothing is defaulted: a page that lacks a field is rejected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from services.ingest.text.front_matter import tags_of, texts_of
from shared.contracts.files import SchemaRules
from shared.errors import InvalidInput

_SHOWN = 20
"""A reason names at most so many faults and allowed values."""


def check_schema(path: str, values: Mapping[str, object], rules: SchemaRules) -> None:
    """Raise InvalidInput that names every field that breaks a rule, and what is allowed; no rules bind exempt paths.

    A field is present when it holds something: null, blank text and empty lists are absent. An absent field breaks
    only `required`.
    """
    if not rules.strict or path.startswith(rules.exempt):
        return
    faults = list(_faults(values, rules))
    if faults:
        raise InvalidInput(f"The page breaks the vault's schema: {'; '.join(faults[:_SHOWN])}.")


def _faults(values: Mapping[str, object], rules: SchemaRules) -> Iterator[str]:
    for name in rules.required:
        if not _entries(name, values):
            allowed = rules.allowed.get(name)
            yield f"the field {name} is missing" + (f" (allowed: {_listed(allowed)})" if allowed else "")
    for name, allowed in rules.allowed.items():
        wrong = [entry for entry in _entries(name, values) if entry not in allowed]
        if wrong:
            yield f"the field {name} has {_listed(wrong)}, allowed: {_listed(allowed)}"


def _entries(name: str, values: Mapping[str, object]) -> tuple[str, ...]:
    return tags_of(values.get(name)) if name == "tags" else texts_of(values.get(name))


def _listed(values: list[str] | tuple[str, ...]) -> str:
    shown = ", ".join(f"'{value[:80]}'" for value in values[:_SHOWN])
    return shown + (", …" if len(values) > _SHOWN else "") if values else "nothing"
