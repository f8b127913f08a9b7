"""Replies of a search, as retrieval gives them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from shared.contracts.search import Citation, PageRef, Passage, SearchReply
from shared.ids import content_hash, slugify
from shared.tokens import estimate_tokens


def found(*entries: tuple[str, str]) -> SearchReply:
    """Return a reply with one citation per entry, each a title and a text."""
    text = "\n\n".join(f"[{n}] {title}\n{body}" for n, (title, body) in enumerate(entries, start=1))
    return SearchReply(
        query="asked",
        text=text,
        citations=tuple(_citation(n, *entry) for n, entry in enumerate(entries, start=1)),
        token_budget=6_553,
        approx_tokens=estimate_tokens(text),
        data_version=1,
        results=(),
        retriever="hybrid",
        space="hashing",
    )


def sauerkraut() -> SearchReply:
    """Return what a search for sauerkraut finds."""
    return found(
        ("Sauerkraut", "Sauerkraut takes two percent of its weight in salt. It rests for three weeks."),
        ("Crocks", "A crock of stoneware keeps the brine dark and cool."),
    )


def numbers(reply: SearchReply) -> Sequence[int]:
    """Return the numbers that may be cited."""
    return [citation.n for citation in reply.citations]


def _citation(n: int, title: str, body: str) -> Citation:
    passage = Passage(
        chunk_id=UUID(int=n),
        content_hash=content_hash(body),
        revision=7,
        heading_path=(title,),
        char_start=0,
        char_end=len(body),
        line_start=1,
        line_end=2,
    )
    ref = PageRef(id=UUID(int=100 + n), title=title, slug=slugify(title))
    return Citation(n=n, ref=ref, path=f"wiki/{slugify(title)}.md", score=1 / n, phase="vector", passages=(passage,))
