"""A conversation as one document, Markdown or JSON, written turn by turn. Pure.

The document is `head`, the pieces of all turns in order, and `tail`: it can be cut between turns and joined again.
Footnotes are labelled `turn-number`, so that `[^2-1]` is what `[1]` was in the second answer.
"""

from __future__ import annotations

import json
from typing import Literal, Protocol

from services.chat.conversation_store import PlacedTurn
from services.chat.exporting_footnotes import (
    code_span,
    lines_of,
    plain,
    revisions_of,
    support_of,
    used_citations,
    with_footnote_marks,
)
from services.chat.question import title_of
from shared.contracts.stored_turns import ConversationSummary, StoredCitation, StoredMessage
from shared.ids import slugify

Format = Literal["markdown", "json"]

_MOST_NAME = 80
"""Characters of a file's name without its ending."""


class Document(Protocol):
    """One format."""

    ending: str

    def head(self, summary: ConversationSummary) -> str:
        """Return what stands ahead of the turns."""
        ...

    def turn(self, placed: PlacedTurn) -> str:
        """Return a turn."""
        ...

    @property
    def tail(self) -> str:
        """What stands behind the turns."""
        ...


def document(form: Format) -> Document:
    """Return the writer of a format."""
    return JsonDocument() if form == "json" else MarkdownDocument()


def file_name(summary: ConversationSummary, form: Format) -> str:
    """Return a name for the document's file, safe on every system."""
    stem = slugify(summary.title).encode()[:_MOST_NAME].decode(errors="ignore").strip("-") or "conversation"
    return f"{stem}.{document(form).ending}"


class JsonDocument:
    """The stored records: `{"conversation": …, "turns": […]}`."""

    ending = "json"
    tail = "\n]}\n"

    def head(self, summary: ConversationSummary) -> str:
        """Return the conversation's own record."""
        return f'{{"conversation": {summary.model_dump_json()},\n"turns": ['

    def turn(self, placed: PlacedTurn) -> str:
        """Return the turn's record; a comma parts it from the one before."""
        comma = "," if placed.number > 1 else ""
        return f"{comma}\n{json.dumps(placed.turn.model_dump(mode='json'), ensure_ascii=False)}"


class MarkdownDocument:
    """Questions as headings, answers as they were streamed, citations as footnotes."""

    ending = "md"
    tail = ""

    def head(self, summary: ConversationSummary) -> str:
        """Return title and dates."""
        began, turns = summary.created_at.date().isoformat(), summary.turns
        return f"# {plain(summary.title)}\n\n*Began {began}, {turns} question{'' if turns == 1 else 's'}.*\n"

    def turn(self, placed: PlacedTurn) -> str:
        """Return question, answer and footnotes."""
        question, answer = placed.turn.question, placed.turn.answer
        parts = [_heading(placed.number, question.text)]
        if text := with_footnote_marks(answer, lambda n: f"{placed.number}-{n}").strip():
            parts.append(text)
        if note := _state_note(answer):
            parts.append(f"*{plain(note)}*")
        if notes := [_footnote(placed.number, citation) for citation in used_citations(answer)]:
            parts.append("\n".join(notes))
        return "\n" + "\n\n".join(parts) + "\n"


def _heading(number: int, question: str) -> str:
    """Return the question's beginning as a heading, and all of it as a quotation where that is not the whole."""
    title = title_of(question)
    heading = f"## {number}. {plain(title)}"
    if title == question:
        return heading
    quoted = "\n".join(f"> {line}".rstrip() for line in question.splitlines())
    return f"{heading}\n\n{quoted}"


def _state_note(answer: StoredMessage) -> str:
    if answer.state == "streaming":
        return "This answer is being written."
    if answer.state in {"failed", "cancelled"}:
        return f"{'Failed' if answer.state == 'failed' else 'Cut short'}: {answer.error or 'no reason was stored.'}"
    return "Cut at the limit of its length." if answer.finish_reason == "length" else ""


def _footnote(number: int, citation: StoredCitation) -> str:
    facts = (code_span(citation.path), lines_of(citation), revisions_of(citation), support_of(citation))
    return f"[^{number}-{citation.n}]: {plain(citation.ref.title)}, {', '.join(fact for fact in facts if fact)}."
