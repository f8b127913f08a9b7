"""A page's body cut into chunks, and what of each chunk is embedded and counted (DESIGN §6, chunking).

Sections first, short neighbours merged, long ones split; the same text always gives the same chunks, and an edit
within a section changes only chunks that hold a part of it, before or after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.ingest.page import Chunk
from services.ingest.text.data_blobs import Span, blobs, drawings, joined, without
from services.ingest.text.decoding import LineCounter
from services.ingest.text.front_matter import FrontMatter
from services.ingest.text.markdown import Outline
from services.ingest.text.names import lexical_text
from services.ingest.text.sections import merged, page_sections
from services.ingest.text.splitting import ChunkerSettings, Splitter
from services.ingest.text.yaml_values import text_of
from shared.ids import content_hash
from shared.tokens import estimate_tokens

CHUNKER_VERSION = 2
"""Part of every space's name: raised when the same page would give other chunks or other texts to embed."""

_DATA_ONLY = "data"
"""What is embedded for a chunk that has no word but data, and no title or heading: providers refuse the empty text."""


@dataclass(frozen=True, slots=True)
class PageText:
    """A page read as far as chunking needs it."""

    path: str
    """Relative to the vault, NFC."""
    decoded: str
    """The text that offsets refer to."""
    lines: str
    """The same with each lone CR as LF (`with_line_feeds`)."""
    front_matter: FrontMatter
    structure: Outline


def chunk_page(page: PageText, settings: ChunkerSettings) -> tuple[Chunk, ...]:
    """Return the chunks of a page in order; together they hold every character of the body that is not blank.

    A page of only front matter gives one chunk, its front matter; a blank page gives none.
    """
    ignored = joined([*blobs(page.lines), *drawings(page.lines, page.structure.solids)])
    spans = [(path, *span) for path, span in _spans(page, ignored, settings) if span[0] < span[1]]
    if not spans:
        return _front_matter_chunk(page)
    counter, chunks = LineCounter(page.lines), list[Chunk]()
    for path, start, end in spans:
        body = without(page.decoded, ignored, start, end).strip()
        chunks.append(_chunk(page, counter, (len(chunks), start, end), path, body))
    return tuple(chunks)


def _spans(page: PageText, ignored: Sequence[Span], settings: ChunkerSettings) -> list[tuple[tuple[str, ...], Span]]:
    text = page.lines
    wholes = joined([*ignored, *((solid.start, solid.end) for solid in page.structure.solids)])
    splitter = Splitter(text, page.structure, wholes, settings)
    sections = list(page_sections(text, page.front_matter.end, page.structure))
    return [
        (section.path, _trimmed(text, span))
        for section in merged(sections, splitter.ruler, settings.max_tokens)
        for span in splitter.split(section)
    ]


def _trimmed(text: str, span: Span) -> Span:
    """Drop blank lines in front, but no indentation of the first line that stays, and blanks behind."""
    inner = text[span[0] : span[1]]
    first = len(inner) - len(inner.lstrip())
    start = span[0] + inner.rfind("\n", 0, first) + 1
    return start, max(start, span[0] + len(inner.rstrip()))


def _front_matter_chunk(page: PageText) -> tuple[Chunk, ...]:
    front_matter = page.front_matter
    start, end = _trimmed(page.lines, (0, front_matter.end))
    if not front_matter.yaml_text.strip():
        return ()
    description = text_of(front_matter.values.get("description")).strip()
    body = description or ("" if front_matter.title else front_matter.yaml_text.strip())
    return (_chunk(page, LineCounter(page.lines), (0, start, end), (), body),)


def _chunk(
    page: PageText, counter: LineCounter, place: tuple[int, int, int], heading_path: tuple[str, ...], body: str
) -> Chunk:
    index, start, end = place
    text = page.decoded[start:end]
    embed_text = _embed_text(page.front_matter.title, heading_path, body)
    return Chunk(
        index=index,
        text=text,
        content_hash=content_hash(text),
        embed_text=embed_text,
        text_hash=content_hash(embed_text),
        lexical_text=lexical_text(page.path, embed_text),
        heading_path=heading_path,
        char_start=start,
        char_end=end,
        line_start=counter.at(start),
        line_end=counter.at(end - 1) + 1,
        token_count=estimate_tokens(text),
    )


def _embed_text(title: str | None, heading_path: tuple[str, ...], body: str) -> str:
    """Put title and heading path in front, the title once where it is also the outermost heading."""
    names = heading_path if title is None or title in heading_path[:1] else (title, *heading_path)
    return "\n\n".join(part for part in (" > ".join(names), body) if part) or _DATA_ONLY
