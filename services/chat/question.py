"""A question as it is stored and asked: cleaned, bounded, and what of it is searched for."""

from __future__ import annotations

from services.chat.clean_text import cleaned
from shared.errors import InvalidInput

MOST_SEARCHED = 4000
"""Characters that a search takes."""

_TITLE = 80
"""Characters of a conversation's first title: a line on a screen."""


def clean_question(text: str) -> str:
    """Return the question without control characters and blanks around. Raises InvalidInput when nothing is left."""
    question = cleaned(text).strip()
    if not question:
        raise InvalidInput("The question holds nothing but blanks.")
    return question


def searched(query: str) -> str:
    """Return what of a long query is searched for: its beginning and its end, where questions stand."""
    if len(query) <= MOST_SEARCHED:
        return query
    half = MOST_SEARCHED // 2 - 1
    return f"{query[:half]} {query[-half:]}"


def title_of(question: str) -> str:
    """Return the question's first line, cut between words, as a conversation's title."""
    line = " ".join(question.splitlines()[0].split())
    return line if len(line) <= _TITLE else f"{line[:_TITLE].rsplit(' ', 1)[0][: _TITLE - 1]}…"
