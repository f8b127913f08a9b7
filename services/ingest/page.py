"""What a file becomes: the page with its chunks and links, before it has any place in a store. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from shared.pickling import pickled_by_fields
from shared.vectors.store import SparseVector

LinkKind = Literal["wikilink", "embed", "markdown"]


@pickled_by_fields
@dataclass(frozen=True, slots=True)
class Chunk:
    """A contiguous span of a page."""

    index: int
    """From 0 within the page."""
    text: str
    """The span itself: `decoded[char_start:char_end]`."""
    content_hash: str
    """SHA-256 of `text`."""
    embed_text: str
    """What is embedded: title and heading path in front, drawings and data blobs left out; not the file's name."""
    text_hash: str
    """SHA-256 of `embed_text`."""
    lexical_text: str
    """What BM25 counts: as embed_text, with the file's name in front."""
    heading_path: tuple[str, ...]
    """Headings above the span, outermost first."""
    char_start: int
    char_end: int
    """Half-open, in characters of the decoded file."""
    line_start: int
    line_end: int
    """Half-open, from 1; CRLF, lone CR and LF each end a line."""
    token_count: int


@pickled_by_fields
@dataclass(frozen=True, slots=True)
class Link:
    """A link to another page as it is written; not those to the web, nor those inside code."""

    target: str
    """The page part, percent-decoded for Markdown links: `folder/Page`, `../other.md`. Empty: the page itself."""
    target_stem: str
    """Lower-case NFC file stem of the target without `.md`."""
    fragment: str | None
    """Heading or block after `#`."""
    kind: LinkKind
    char_start: int


@pickled_by_fields
@dataclass(frozen=True, slots=True)
class PreparedPage:
    """All that a file says, ready to be committed."""

    title: str
    """Front matter `title` as text, else the first level-1 heading, else the file stem; never empty."""
    slug: str
    """slugify(front matter title, else file stem)."""
    stem: str
    """Lower-case NFC file stem."""
    kind: str
    """First folder of the path, `page` at the vault's root."""
    language: str
    """ISO 639-1: front matter `lang` or `language`, else what the prose shows, else the vault's setting, else `en`."""
    page_type: str | None
    """Front matter `type`."""
    front_matter: Mapping[str, object]
    """JSON values only; dates as ISO 8601 text."""
    fields: Mapping[str, object]
    """Payload fields from the front matter (area, level, …, tags as list, last_verified); absent ones are None."""
    sources: tuple[str, ...]
    """Front matter `sources`."""
    problems: tuple[str, ...]
    """What is wrong but does not keep the page from being indexed, as sentences."""
    chunks: tuple[Chunk, ...]
    links: tuple[Link, ...]
    weights: tuple[SparseVector, ...] = ()
    """Of the words of each chunk, where they were worked out ahead; else empty."""
