"""The YAML block at the top of a page: where it ends, and what it says about the page.

A page is never lost for its front matter: what cannot be read becomes a problem, a sentence for people, and the
body is indexed all the same. Only a `---` on the very first line opens one, and the next line must not be blank.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

import yaml

from services.ingest.text.yaml_values import compose, raw_text, text_of, to_values
from shared.errors import InvalidInput
from shared.vectors.ranges import range_values

MAX_CHARS = 65_536
"""Longer front matter is not parsed: it is data by mistake, and YAML is slow."""
TITLE_MAX_CHARS = 300
"""A longer title is cut: it stands in front of every chunk that is embedded."""
TEXT_FIELDS = ("area", "level", "source_type", "confidence", "period")
"""Payload fields that hold one text."""
LIST_FIELDS = ("artefacts", "tags")
"""Payload fields that hold a list of texts."""

_OPENING = re.compile(r"---[ \t]*\r?\n(?![ \t]*\r?\n)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_LANGUAGE = re.compile(r"([a-z]{2})(?:[-_].*)?")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands at the top of a page; all empty when nothing does."""

    end: int = 0
    """Where the body begins, in characters; 0: there is no front matter."""
    yaml_text: str = ""
    """What stands between the two lines of hyphens."""
    values: Mapping[str, object] = field(default_factory=dict[str, object])
    """JSON values only; dates as ISO 8601 text."""
    title: str | None = None
    """As it is written, even if it is a date or a number; blanks collapsed, at most TITLE_MAX_CHARS."""
    problems: tuple[str, ...] = ()


def read_front_matter(text: str) -> FrontMatter:
    """Return the front matter of a page whose text has no lone CR (`with_line_feeds`).

    A block that is valid YAML but no mapping (prose between two rules) is not front matter, but body.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return FrontMatter()
    end, inner = min(closing.end() + 1, len(text)), text[opening.end() : closing.start()]
    try:
        return _parse(inner, end)
    except InvalidInput as error:
        return FrontMatter(end, inner, problems=(f"The fields of the front matter are not read: {error}.",))


def payload_fields(front_matter: FrontMatter) -> tuple[dict[str, object], tuple[str, ...]]:
    """Return the payload fields that front matter gives, absent ones None, and the problems with them.

    Values are text, as filters compare text: `level: 3` is "3"; numbers and dates are kept beside them for ranges
    (`range_values`). `tags` may be a list or words parted by commas or blanks; `last_verified` is the day in ISO 8601.
    """
    values, problems = front_matter.values, list[str]()
    fields: dict[str, object] = {name: _one_text(values.get(name), name, problems) for name in TEXT_FIELDS}
    fields["artefacts"] = list(texts_of(values.get("artefacts"))) or None
    fields["tags"] = list(tags_of(values.get("tags"))) or None
    fields["last_verified"] = _day(values.get("last_verified"), problems)
    return {**fields, **range_values(fields)}, tuple(problems)


def tags_of(value: object) -> tuple[str, ...]:
    """Return tags without `#`, each once, in order, from a list or from a text parted by commas or blanks."""
    parts = re.split(r"[,\s]+", value) if isinstance(value, str) else texts_of(value)
    return tuple(dict.fromkeys(tag for part in parts if (tag := part.strip().lstrip("#"))))


def texts_of(value: object) -> tuple[str, ...]:
    """Return a value as texts: a list's entries, nested lists flattened; one text for a scalar; none for null or blank.

    An entry that is a wikilink gives the name that it links to, so that `[[a]]` and `a` are the same entry.
    """
    if isinstance(value, list):
        entries = cast("list[object]", value)
        return tuple(text for entry in entries for text in texts_of(entry))
    text = text_of(value).strip()
    if text.startswith("[[") and text.endswith("]]"):
        text = text[2:-2].partition("|")[0].strip()
    return (text,) if text else ()


def language_of(values: Mapping[str, object]) -> str | None:
    """Return the ISO 639-1 code under `lang` or `language` (`de`, `de-AT`, `de_AT` are all `de`), if there is one."""
    for name in ("lang", "language"):
        match = _LANGUAGE.fullmatch(text_of(values.get(name)).strip().lower())
        if match:
            return match[1]
    return None


def _parse(inner: str, end: int) -> FrontMatter:
    if len(inner) > MAX_CHARS:
        raise InvalidInput(f"more than {MAX_CHARS:,} characters")
    node = compose(inner)
    if node is None:
        return FrontMatter(end, inner)
    if not isinstance(node, yaml.MappingNode):
        return FrontMatter()
    title = " ".join((raw_text(node, "title") or "").split())[:TITLE_MAX_CHARS].strip()
    values = to_values(node)
    problems = () if title or values.get("title") is None else ("The title in the front matter is not a text.",)
    return FrontMatter(end, inner, values, title or None, problems)


def _one_text(value: object, name: str, problems: list[str]) -> str | None:
    if isinstance(value, list | dict):
        problems.append(f"The front matter field {name} is not one value; it is left out.")
        return None
    return text_of(value).strip() or None


def _day(value: object, problems: list[str]) -> str | None:
    text = text_of(value).strip()
    if not text:
        return None
    try:
        return datetime.date.fromisoformat(text[:10]).isoformat()
    except ValueError:
        problems.append("The front matter field last_verified is not a date like 2026-05-31; it is left out.")
        return None
