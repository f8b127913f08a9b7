"""Takes a passage apart into what can be quoted: sentences, list items, table rows and whole code blocks, in order.

A table row reads `header: cell; header: cell`, so that it stands alone; a code block is never cut. Links read as their
words, marks of emphasis are taken out, code spans keep their backticks. Where a sentence ends is told by
services.chat.sentence_ends. Front matter, images, rules, comments and templates are nothing to quote. Every pattern
looks at a bounded stretch, so that time is linear; pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Literal

from services.chat.sentence_ends import split_sentences

UnitKind = Literal["sentence", "item", "row", "code", "heading"]

_FENCE = re.compile(r"[ \t]{0,3}(?:[-*+] +)?(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$")
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_QUOTE = re.compile(r"\A(?: {0,3}>[ \t]?)+(?:\[![A-Za-z-]+\][-+]?[ \t]*)?")
_DELIMITERS = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_NOTHING = re.compile(
    r"[ \t]*(?:!\[\[[^\]]*\]\]|!\[[^\]]*\]\([^)]*\)|[-*_=]{3,}|…|<!--.*?-->|(?:\{%[^%\n]*%\}[ \t]*)+)?[ \t]*$"
)
_FRONT_MATTER = re.compile(r"---[ \t]*\n.*?\n---[ \t]*(?:\n|$)", re.DOTALL)
_CELL_END = re.compile(r"(?<!\\)\|")
_WIKILINK = re.compile(r"!?\[\[([^\]|\\]{0,300}?)(?:\\?\|([^\]]{0,300}))?\]\]")
_LINK = re.compile(
    r"!?\[((?:[^\[\]]|\[[^\[\]]{0,100}\]){0,400})\]\([^()\s]{0,2000}(?:\([^()]{0,200}\)[^()\s]{0,200}){0,3}(?:\s+\"[^\"]{0,300}\")?\)"
)
_EMPHASIS = re.compile(r"(\*{1,3}|(?<!\w)_{1,3})(?=\S)(.{1,600}?)(?<=\S)\1(?!\w)|~~(?=\S)(.{1,600}?)~~")
_ESCAPE = re.compile(r"\\([^\w\s])")
_CODE_LINK = re.compile(r"\[(`+[^`\[\]\n]{1,300}`+)\]\([^()\s]{0,2000}\)")
"""A link whose words are code."""
_CODE_SPAN = re.compile(r"(`+)(?:.{1,2000}?)\1")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>|\{%[^%\n]{0,300}%\}")
"""HTML, and templates such as GitBook's `{% hint style="info" %}`."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What can be quoted as one."""

    text: str
    """On one line, as a reader sees it; code as it stands, with its fences."""
    kind: UnitKind
    headings: tuple[str, ...]
    """It stands under, outermost first."""
    block: int
    """Paragraph, list or table of the passage; neighbours in one belong together."""
    cells: tuple[tuple[str, str], ...] = ()
    """Header and cell, of a row."""


@dataclass(slots=True)
class _Reader:
    lines: list[str]
    at: int = 0
    headings: tuple[tuple[int, str], ...] = ()

    def under(self) -> tuple[str, ...]:
        return tuple(text for _, text in self.headings)


def units_of(text: str) -> tuple[Unit, ...]:
    """Return the units of a Markdown text in order."""
    reader = _Reader(_FRONT_MATTER.sub("", text, count=1).splitlines() if text.startswith("---") else text.splitlines())
    blocks = count()
    units: list[Unit] = []
    while reader.at < len(reader.lines):
        units += _block(reader, next(blocks))
    return tuple(units)


def readable(text: str) -> str:
    """Return inline Markdown as a reader sees it, on one line; code spans stay as they are."""
    text = _CODE_LINK.sub(r"\1", text)
    parts: list[str] = []
    at = 0
    for span in _CODE_SPAN.finditer(text):
        parts += [_inline(text[at : span.start()]), span.group()]
        at = span.end()
    return " ".join("".join([*parts, _inline(text[at:])]).split())


def _inline(text: str) -> str:
    text = _WIKILINK.sub(lambda link: link[2] or link[1].rpartition("/")[2].replace("#", ", "), text)
    text = _TAG.sub("", _LINK.sub(r"\1", text))
    for _ in range(2):  # bold within italics
        text = _EMPHASIS.sub(lambda marked: marked[2] or marked[3], text)
    return _ESCAPE.sub(r"\1", text)


def _block(reader: _Reader, block: int) -> Iterator[Unit]:
    """Take the next block off the reader and return its units."""
    line = reader.lines[reader.at]
    if _FENCE.match(line):
        yield _code(reader, block)
    elif heading := _HEADING.match(line):
        reader.at += 1
        yield from _headed(reader, heading, block)
    elif _NOTHING.match(line):
        reader.at += 1
    elif _begins_table(reader):
        yield from _rows(reader, block)
    else:
        yield from _prose(reader, block)


def _code(reader: _Reader, block: int) -> Unit:
    fence = _FENCE.match(reader.lines[reader.at])
    mark = fence[1] if fence else "```"
    first = reader.at
    reader.at += 1
    while reader.at < len(reader.lines):
        line = reader.lines[reader.at].strip()
        reader.at += 1
        if line.startswith(mark) and not line.strip(mark[0]):
            break
    taken = reader.lines[first : reader.at]
    whole = len(taken) > 1 and taken[-1].strip().startswith(mark)
    return Unit("\n".join(taken if whole else [*taken, mark]), "code", reader.under(), block)


def _headed(reader: _Reader, heading: re.Match[str], block: int) -> Iterator[Unit]:
    level, text = len(heading[1]), readable(heading[2])
    above = tuple(each for each in reader.headings if each[0] < level)
    reader.headings = above
    if text:
        yield Unit(text, "heading", reader.under(), block)
        reader.headings = (*above, (level, text))


def _begins_table(reader: _Reader) -> bool:
    following = reader.lines[reader.at + 1] if reader.at + 1 < len(reader.lines) else ""
    line = reader.lines[reader.at]
    if "|" not in line:
        return False
    return line.lstrip().startswith("|") or ("-" in following and _DELIMITERS.match(following) is not None)


def _rows(reader: _Reader, block: int) -> Iterator[Unit]:
    table: list[str] = []
    while reader.at < len(reader.lines) and "|" in reader.lines[reader.at]:
        table.append(reader.lines[reader.at])
        reader.at += 1
    has_head = len(table) > 1 and _DELIMITERS.match(table[1]) is not None
    header = _cells(table[0]) if has_head else []
    for line in table[2:] if has_head else table:
        if _DELIMITERS.match(line):
            continue
        cells = _cells(line)
        names = [*header, *[""] * max(0, len(cells) - len(header))]
        pairs = tuple((name, cell) for name, cell in zip(names, cells, strict=False) if cell)
        if pairs:
            shown = "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs)
            yield Unit(shown, "row", reader.under(), block, pairs)


def _cells(line: str) -> list[str]:
    line = line.strip().removeprefix("|")
    cells = _CELL_END.split(line)
    if not cells[-1].strip():
        cells.pop()
    return [readable(cell.replace("\\|", "|")) for cell in cells]


def _prose(reader: _Reader, block: int) -> Iterator[Unit]:
    """Take the lines up to the next blank line or other block; a list item is units of its own."""
    parts: list[tuple[UnitKind, list[str]]] = []
    while reader.at < len(reader.lines) and not _ends_prose(reader, first=not parts):
        line = _QUOTE.sub("", reader.lines[reader.at])
        item = _ITEM.match(line)
        if item:
            parts.append(("item", [line[item.end() :]]))
        elif parts:
            parts[-1][1].append(line)
        else:
            parts.append(("sentence", [line]))
        reader.at += 1
    for kind, lines in parts:
        for sentence in split_sentences(readable("\n".join(lines))):
            yield Unit(sentence, kind, reader.under(), block)


def _ends_prose(reader: _Reader, *, first: bool) -> bool:
    line = reader.lines[reader.at]
    if first:
        return False
    return bool(
        not line.strip() or _FENCE.match(line) or _HEADING.match(line) or _NOTHING.match(line) or _begins_table(reader)
    )
