"""The citations of a stored answer as Markdown footnotes. Pure.

`[n]` in the answer becomes `[^label]` at the very places that were stored for it; numbers in code or prose that are no
citations stay. Every number that the answer uses has one footnote; what was given and not used has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from services.chat.code_regions import CodeRegions
from shared.contracts.stored_turns import StoredCitation, StoredMessage

Label = Callable[[int], str]
"""Makes the footnote's label of a citation's number."""

_ACTIVE = re.compile(r"[\\`*_\[\]<>|~^$#]")
_RUN = re.compile(r"`{3,}|~{3,}")


def with_footnote_marks(answer: StoredMessage, label: Label) -> str:
    """Return the answer's text with footnote marks for its citations, and its code closed: footnotes can follow."""
    places = sorted((span.marker_start, span.marker_end, each.n) for each in answer.citations for span in each.spans)
    parts: list[str] = []
    position = 0
    for start, end, n in places:
        parts += (answer.text[position:start], f"[^{label(n)}]")
        position = end
    return _code_closed("".join(parts) + answer.text[position:])


def used_citations(answer: StoredMessage) -> Sequence[StoredCitation]:
    """Return the citations that the answer uses, by number."""
    return sorted((each for each in answer.citations if each.spans), key=lambda each: each.n)


def lines_of(citation: StoredCitation) -> str:
    """Return where in its file the passages stand, for people: `lines 3–9, 20`."""
    ranges = sorted({(each.line_start, max(each.line_start, each.line_end - 1)) for each in citation.passages})
    if not ranges:
        return ""
    shown = ", ".join(str(first) if first == last else f"{first}\u2013{last}" for first, last in ranges)
    return f"line {shown}" if shown.isdecimal() else f"lines {shown}"


def revisions_of(citation: StoredCitation) -> str:
    """Return which revision of the page was cited: `revision 12`."""
    found = sorted({each.revision for each in citation.passages})
    return f"revision{'s' if len(found) > 1 else ''} {', '.join(map(str, found))}" if found else ""


def support_of(citation: StoredCitation) -> str:
    """Return how the sentences that cite it are supported, each label once, best first; empty: not checked."""
    order = ("quoted", "supported", "weak", "unsupported")
    labels = {span.support for span in citation.spans}
    return ", ".join(label for label in order if label in labels)


def plain(text: str) -> str:
    """Return text in one line that means nothing to Markdown."""
    return _ACTIVE.sub(lambda found: f"\\{found.group()}", " ".join(text.split()))


def code_span(text: str) -> str:
    """Return text as a code span, whatever backticks it has."""
    line = " ".join(text.split())
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    blank = " " if "`" in line else ""
    return f"{fence}{blank}{line}{blank}{fence}"


def _code_closed(text: str) -> str:
    """Return text in which no fence is open at its end: an answer may have been cut within one."""
    if not _in_code(text):
        return text
    longest = max((len(run.group()) for run in _RUN.finditer(text)), default=3)
    closed = (f"{text}\n{sign * longest}" for sign in "`~")
    return next((each for each in closed if not _in_code(each)), text)


def _in_code(text: str) -> bool:
    regions = CodeRegions()
    for character in f"{text}\n\n":
        regions.feed(character)
    return regions.in_code("x")
