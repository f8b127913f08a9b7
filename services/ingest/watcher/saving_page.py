"""What a saved page looks like: provenance in front matter, then the text. Pure.

    ---
    title: How much salt does sauerkraut take?
    type: query
    generated_by: citebus
    saved_at: '2026-05-31T12:00:00+00:00'
    question: How much salt does sauerkraut take?
    conversation: 0b5f3e8a-…
    turn: 6f1c2a9e-…
    sources:
    - wiki/sauerkraut.md
    ---

`generated_by` and `type` are the mark by which a page is known as one that may be written again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

import yaml

from services.ingest.text.decoding import decode, with_line_feeds
from services.ingest.text.front_matter import FrontMatter, read_front_matter
from services.ingest.text.yaml_values import text_of
from shared.contracts.saving import SaveTextRequest
from shared.errors import InvalidInput

_MARK = {"generated_by": "citebus", "type": "query"}

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
"""What YAML can't carry or a Markdown file should not: controls but tab and line ends, and halves of characters."""


@dataclass(frozen=True, slots=True)
class SavedPage:
    """A page that this feature wrote, as the disk has it."""

    turn: str | None
    words: str
    """All that it says but when it was saved: equal for equal content."""


def page_text(request: SaveTextRequest, saved_at: datetime) -> bytes:
    """Return the file. Raises InvalidInput when title or body hold nothing but blanks."""
    title, body = " ".join(_clean(request.title).split()), _clean(request.body).strip()
    if not title or not body:
        raise InvalidInput("The title or the text of the page holds nothing but blanks.")
    fields: dict[str, object] = {"title": title, **_MARK, "saved_at": saved_at.isoformat(timespec="seconds")}
    if question := _clean(request.question or "").strip():
        fields["question"] = question
    ids = {"conversation": request.conversation_id, "turn": request.turn_id, "message": request.message_id}
    fields.update({name: str(value) for name, value in ids.items() if value is not None})
    fields["type"] = fields.pop("type")
    if sources := list(dict.fromkeys(_clean(source) for source in request.sources)):
        fields["sources"] = sources
    front = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{front}---\n\n{body}\n".encode()


def saved_page(content: bytes) -> SavedPage | None:
    """Return what a page says if this feature wrote it; None for anybody else's."""
    try:
        lines = with_line_feeds(decode(content))
    except InvalidInput:  # no text
        return None
    front = read_front_matter(lines)
    if any(text_of(front.values.get(name)) != value for name, value in _MARK.items()):
        return None
    return SavedPage(text_of(front.values.get("turn")) or None, _words(front, lines))


def _words(front: FrontMatter, lines: str) -> str:
    kept = {name: value for name, value in front.values.items() if name != "saved_at"}
    return f"{sorted(kept.items())!r}\n{lines[front.end :].strip()}"


def _clean(text: str) -> str:
    return _CONTROL.sub("", re.sub("\r\n?", "\n", text))
