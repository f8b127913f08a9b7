"""Markdown to its structure: top-level blocks, what must stay whole, and links, all with character ranges.

The parser is pulldown-cmark (through pyromark), with tables, footnotes, math, task lists and wikilinks. Its ranges are
in UTF-8 bytes; they are turned into characters in one pass. Front matter is cut off before, so that a `---` in the
middle of a page is a rule and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pyromark import Markdown, Options
from pyromark.event import Range

HEADING_MAX_CHARS = 160
"""A heading path stands in front of every chunk that is embedded; a longer heading is cut there, not in the text."""

_PARSER = Markdown(
    options=Options.ENABLE_TABLES
    | Options.ENABLE_FOOTNOTES
    | Options.ENABLE_STRIKETHROUGH
    | Options.ENABLE_TASKLISTS
    | Options.ENABLE_MATH
    | Options.ENABLE_WIKILINKS
)
_BLOCKS = frozenset(
    {"Paragraph", "Item", "List", "BlockQuote", "HtmlBlock", "FootnoteDefinition", "CodeBlock", "Heading", "Table"}
)
_TEXTS = frozenset({"Text", "Code", "InlineMath", "DisplayMath"})


@dataclass(frozen=True, slots=True)
class Solid:
    """A fenced block or table, nested ones too: no boundary may lie inside."""

    start: int
    end: int
    info: str | None
    """What stands behind the opening fence; None for a table."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the page itself, not one inside a quote or list."""

    start: int
    end: int
    level: int
    text: str
    """Without marks, blanks collapsed, at most HEADING_MAX_CHARS; may be empty."""


@dataclass(frozen=True, slots=True)
class RawLink:
    """A link or image as the parser sees it."""

    start: int
    destination: str
    is_wikilink: bool
    is_image: bool


@dataclass(frozen=True, slots=True)
class Outline:
    """The structure of a body. All offsets are in characters of the page, and ascend."""

    block_starts: Sequence[int]
    """Starts of the top-level blocks, behind their indentation."""
    part_starts: Sequence[int]
    """Starts of the blocks nested in them, such as list items, behind their indentation and marks."""
    solids: Sequence[Solid]
    headings: Sequence[Heading]
    links: Sequence[RawLink]


def outline(text: str, start: int) -> Outline:
    """Return the structure of `text[start:]`; `text` has no lone CR (`with_line_feeds`). Linear time."""
    body = text[start:] if start else text
    reader = _Reader()
    events = cast("Iterable[tuple[str | Mapping[str, Any], Range]]", _PARSER.events_with_range(body))
    for event, span in events:
        if isinstance(event, str):
            if event == "Rule":
                reader.block(span["start"], span["end"])
            elif span["start"] < reader.heading_end:
                reader.headings[-1][3].append(" ")  # a heading underlined with === may have several lines
        elif "Start" in event:
            reader.begin(event["Start"], span)
        elif span["start"] < reader.heading_end:
            reader.headings[-1][3].extend(value for key, value in event.items() if key in _TEXTS)
    return _in_characters(reader, body, start)


@dataclass(slots=True)
class _Reader:
    """Collects the structure in byte offsets. A block is a top-level one when it begins behind the last such."""

    block_starts: list[int] = field(default_factory=list)
    part_starts: list[int] = field(default_factory=list)
    solids: list[tuple[int, int, str | None]] = field(default_factory=list)
    headings: list[tuple[int, int, int, list[str]]] = field(default_factory=list)
    links: list[tuple[int, str, bool, bool]] = field(default_factory=list)
    heading_end: int = 0
    _block_end: int = 0

    def begin(self, tag: str | Mapping[str, Any], span: Range) -> None:
        if isinstance(tag, str):
            if tag in _BLOCKS:
                self.block(span["start"], span["end"])
            return
        ((name, value),) = tag.items()
        if name in ("Link", "Image"):
            link_type = value["link_type"]
            is_wikilink = isinstance(link_type, dict) and "WikiLink" in link_type
            self.links.append((span["start"], value["dest_url"], is_wikilink, name == "Image"))
        elif name in _BLOCKS:
            self._large(name, value, span["start"], span["end"])

    def block(self, start: int, end: int) -> bool:
        """Note a block; return whether it is a top-level one."""
        if start < self._block_end:
            self.part_starts.append(start)
            return False
        self.block_starts.append(start)
        self._block_end = end
        return True

    def _large(self, name: str, value: Any, start: int, end: int) -> None:
        is_top = self.block(start, end)
        if name == "Table":
            self.solids.append((start, end, None))
        elif name == "CodeBlock" and isinstance(value, dict):
            self.solids.append((start, end, value["Fenced"]))
        elif name == "Heading" and is_top:
            self.headings.append((start, end, int(value["level"][1]), []))
            self.heading_end = end


def _in_characters(reader: _Reader, body: str, start: int) -> Outline:
    places = [*reader.block_starts, *reader.part_starts]
    places += [at for solid in reader.solids for at in solid[:2]]
    places += [at for heading in reader.headings for at in heading[:2]]
    places += [link[0] for link in reader.links]
    to_char = _char_offsets(body, places, start)
    return Outline(
        block_starts=[to_char[at] for at in reader.block_starts],
        part_starts=[to_char[at] for at in reader.part_starts],
        solids=[Solid(to_char[a], to_char[b], info) for a, b, info in reader.solids],
        headings=[Heading(to_char[a], to_char[b], level, _plain(texts)) for a, b, level, texts in reader.headings],
        links=[RawLink(to_char[link[0]], *link[1:]) for link in reader.links],
    )


def _char_offsets(body: str, places: list[int], start: int) -> Mapping[int, int]:
    """Return byte offset in `body` → character offset in the page, whose first `start` characters precede the body."""
    if body.isascii():
        return {at: at + start for at in places}
    data, done, chars, result = body.encode(), 0, start, dict[int, int]()
    for at in sorted(set(places)):
        chars += len(data[done:at].decode())
        done = at
        result[at] = chars
    return result


def _plain(texts: list[str]) -> str:
    return " ".join("".join(texts).split())[:HEADING_MAX_CHARS].strip()
