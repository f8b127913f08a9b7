"""The entries of a search's context by number: what a provider reads under each `[n]`, and what it is checked against.

The context is `[n] title`, a line end and the passage, entries divided by blank lines (shared.contracts.search).
Nothing else in it looks like a number in brackets at the start of a line, as retrieval neutralises its sources.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from shared.contracts.search import SearchReply

_HEAD = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
_JOINER = "\u2060"
"""What retrieval puts behind a bracket that could be taken for a citation."""


@dataclass(frozen=True, slots=True)
class ContextEntry:
    """One numbered entry, as the source has it: what retrieval had neutralised is undone."""

    n: int
    title: str
    text: str


def context_entries(context: SearchReply) -> dict[int, ContextEntry]:
    """Return the entries in their order."""
    heads = list(_HEAD.finditer(context.text))
    ends = [head.start() for head in heads[1:]] + [len(context.text)]
    return {
        int(head[1]): ContextEntry(int(head[1]), _plain(head[2]), _plain(context.text[head.end() : end]).strip())
        for head, end in zip(heads, ends, strict=True)
    }


def _plain(text: str) -> str:
    return text.replace(_JOINER, "")
