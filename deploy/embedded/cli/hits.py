"""What searches of one or several vaults found, as one list. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from shared.contracts.search import Citation, Passage, SearchReply


@dataclass(frozen=True, slots=True)
class Hit:
    """One citation with its text."""

    vault_id: str
    query: str
    citation: Citation
    text: str


def merged(replies: Mapping[str, SearchReply]) -> list[Hit]:
    """Return the hits of all replies; of several by similarity, best first, those without one last.

    Scores of two vaults are not comparable, cosines are. Ties keep the order of vault id and rank; the hits of a
    single reply keep its order.
    """
    hits = [hit for vault_id in sorted(replies) for hit in hits_of(vault_id, replies[vault_id])]
    return hits if len(replies) == 1 else sorted(hits, key=_by_similarity)


def hits_of(vault_id: str, reply: SearchReply) -> Iterable[Hit]:
    """Yield a reply's hits in its order."""
    texts = split_context(reply.text, len(reply.citations))
    for citation in reply.citations:
        yield Hit(vault_id, reply.query, citation, texts.get(citation.n, ""))


def split_context(text: str, count: int) -> dict[int, str]:
    """Return n to passage text for the entries `[1]` to `[count]` of a context.

    An entry is a line `[n] title` and the passage under it. Entries are looked for in order, each after the one before.
    """
    found: list[tuple[int, int, int]] = []
    position = 0
    for n in range(1, count + 1):
        heading = re.compile(rf"^\[{n}\][^\n]*(\n|\Z)", re.MULTILINE).search(text, position)
        if heading is None:
            continue
        found.append((n, heading.start(), heading.end()))
        position = heading.end()
    ends = [start for _, start, _ in found] + [len(text)]
    return {n: text[start:end].strip("\n") for (n, _, start), end in zip(found, ends[1:], strict=True)}


def place(citation: Citation) -> str:
    """Return where the passages stand: `wiki/page.md:30-47`, several ranges with commas; first and last line count."""
    return f"{citation.path}:{','.join(_lines(passage) for passage in citation.passages)}"


def _lines(passage: Passage) -> str:
    last = max(passage.line_start, passage.line_end - 1)
    return str(last) if last == passage.line_start else f"{passage.line_start}-{last}"


def _by_similarity(hit: Hit) -> tuple[bool, float]:
    similarity = hit.citation.similarity
    return similarity is None, -(similarity or 0.0)
