"""Sections of a page, and which short neighbours share a chunk.

Where neighbours are parted must not depend on how long far sections are, or one edit would shift every later boundary.
So a run of sections that is too long for one chunk is cut at its highest heading; among several of one level, in the
middle half of them, at the one whose text has the smallest checksum. An edit that keeps the headings changes only
how deep the cutting goes around it, and a new heading moves few other cuts. (Content-defined chunking, as in LBFS,
https://doi.org/10.1145/502034.502052, over sections instead of bytes.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from zlib import crc32

from services.ingest.text.markdown import Outline
from services.ingest.text.measure import TokenRuler

NOT_BLANK = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a page under one heading, or under several neighbouring ones once merged."""

    start: int
    end: int
    """Half-open, in characters; the sections of a page touch."""
    text_start: int
    """Where the first heading, and such headings without text as stand above it, end."""
    level: int
    """Of the first heading; 0 for what stands before any."""
    heading: str
    """Text of the first heading."""
    path: tuple[str, ...]
    """Headings that all of the section stands under, outermost first, its own included."""


def page_sections(text: str, start: int, structure: Outline) -> Iterator[Section]:
    """Yield the sections of `text[start:]` in order.

    A heading without any text of its own goes with the section that follows, since it says nothing alone.
    """
    held: Section | None = None
    for raw in _raw_sections(text, start, structure):
        section = raw if held is None else _under(held, raw)
        held = None if NOT_BLANK.search(text, section.text_start, section.end) else section
        if held is None:
            yield section
    if held is not None and NOT_BLANK.search(text, held.start, held.end):
        yield held


def merged(sections: Sequence[Section], ruler: TokenRuler, max_tokens: int) -> Iterator[Section]:
    """Yield the sections in order, neighbours merged where together they have at most `max_tokens`.

    A merged section's path is what the paths of its parts begin with alike; text before any heading has no say.
    """
    if len(sections) < 2 or ruler.tokens(sections[0].start, sections[-1].end) <= max_tokens:
        yield from _as_one(sections)
        return
    cut = _cut(sections)
    yield from merged(sections[:cut], ruler, max_tokens)
    yield from merged(sections[cut:], ruler, max_tokens)


def _raw_sections(text: str, start: int, structure: Outline) -> Iterator[Section]:
    above: list[tuple[int, str]] = []
    starts = [max(start, text.rfind("\n", start, heading.start) + 1) for heading in structure.headings]
    ends = [*starts, len(text)]
    yield Section(start, ends[0], start, 0, "", ())
    for heading, section_start, end in zip(structure.headings, starts, ends[1:], strict=True):
        above = [item for item in above if item[0] < heading.level] + [(heading.level, heading.text)]
        path = tuple(name for _, name in above if name)
        yield Section(section_start, end, heading.end, heading.level, heading.text, path)


def _under(held: Section, section: Section) -> Section:
    """Return `section` begun at what was held back; blanks before the first heading leave it its level."""
    level, heading = (held.level, held.heading) if held.level else (section.level, section.heading)
    return Section(held.start, section.end, section.text_start, level, heading, section.path)


def _as_one(sections: Sequence[Section]) -> Iterator[Section]:
    if len(sections) < 2:
        yield from sections
        return
    paths = [section.path for section in sections if section.level]
    alike = sum(1 for _ in takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False)))
    yield replace(sections[0], end=sections[-1].end, path=paths[0][:alike] if paths else ())


def _cut(sections: Sequence[Section]) -> int:
    highest = min(section.level for section in sections[1:])
    places = [index for index, section in enumerate(sections) if index and section.level == highest]
    margin = len(places) // 4
    return min(places[margin : len(places) - margin], key=lambda index: crc32(sections[index].heading.encode()))
