"""Files that are not what a careful author writes: their bytes, and where the words stand that a search must find."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shared.contracts.search import Citation, SearchReply

WHOLE_WINDOW = 10_000_000
"""Budget enough for the largest passage of a reply."""

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Odd:
    """A file, what it says once it is decoded, and words of it that no other file has."""

    path: str
    content: bytes
    text: str
    quote: str

    @classmethod
    def utf8(cls, path: str, text: str, quote: str) -> Odd:
        """Return a file whose bytes are plain UTF-8."""
        return cls(path, text.encode(), text, quote)

    def trouble_with(self, reply: SearchReply) -> str | None:
        """Say what is wrong with the reply to a search for the quote; None when the citation is exact."""
        cited = next((citation for citation in reply.citations if citation.path == self.path), None)
        if cited is None:
            return f"not cited, but {[citation.path for citation in reply.citations]}"
        return self._trouble_with(cited)

    def _trouble_with(self, cited: Citation) -> str | None:
        at = self.text.index(self.quote)
        passage = next((one for one in cited.passages if one.char_start <= at < one.char_end), None)
        if passage is None:
            return f"no passage holds character {at}: {[(one.char_start, one.char_end) for one in cited.passages]}"
        if self.quote not in self.text[passage.char_start : passage.char_end]:
            return "the quote is cut"
        lines = (line_of(self.text, passage.char_start), line_of(self.text, passage.char_end - 1) + 1)
        stated = (passage.line_start, passage.line_end)
        return None if stated == lines else f"lines {stated}, not {lines}"


def line_of(text: str, offset: int) -> int:
    """Return the line of a character, from 1; a line end belongs to the line that it ends."""
    return 1 + sum(1 for found in _LINE_END.finditer(text) if found.end() <= offset)


FILLER = "Plain words stand here so that the page has a body of its own. "

_LATIN = (
    "# Prüfbericht der Brücke\n\nDie Überprüfung der Stützen ergab größere Schäden an der südlichen Böschung.\n\n"
    "## Maßnahmen\n\nDer Bürgermeister von Quarzhöhe beschloß, die Straße für schwere Fahrzeuge zu schließen.\n"
)
_LINES = (
    "# Line ends\n\nFirst paragraph of this page.\n\n## Second\n\nThe {name} ferry leaves at dawn.\n\nLast words.\n"
)


def encodings() -> list[Odd]:
    """Return one text in each encoding and with each kind of line end."""
    crlf, lone = (_LINES.format(name=name) for name in ("carmine", "lonesome"))
    crlf, lone = crlf.replace("\n", "\r\n"), lone.replace("\n", "\r")
    mixed = "# Mixed\r\n\rOne.\n\r\nThe medley ferry leaves at dusk.\r"
    wide = "# Ширина\n\nПаром зимородок уходит в полночь.\n"
    marked = "# Mark\n\nThe byteorder ferry leaves at noon.\n"
    return [
        Odd("latin-1.md", _LATIN.encode("latin-1"), _LATIN, "Quarzhöhe"),
        Odd("cp1251.md", (wide * 8).encode("cp1251"), wide * 8, "зимородок"),
        Odd("utf-8 with mark.md", b"\xef\xbb\xbf" + marked.encode(), marked, "byteorder"),
        Odd(
            "utf-16.md",
            "# Sixteen\n\nThe sixteenbit ferry.\n".encode("utf-16"),
            "# Sixteen\n\nThe sixteenbit ferry.\n",
            "sixteenbit",
        ),
        Odd.utf8("crlf.md", crlf, "carmine"),
        Odd.utf8("lone cr.md", lone, "lonesome"),
        Odd.utf8("mixed ends.md", mixed, "medley"),
        Odd.utf8("no end.md", "endlessly", "endlessly"),
    ]


def front_matters() -> list[Odd]:
    """Return front matter of every wrong kind."""
    return [
        Odd.utf8("only.md", "---\ntitle: Onlyness\ndescription: Holds the word hermitage.\n---\n", "hermitage"),
        Odd.utf8(
            "broken.md",
            "---\ntitle: [unclosed\n  bad: : yaml\n---\n# Body\n\nThe brokenness stays found.\n",
            "brokenness",
        ),
        Odd.utf8("date.md", "---\ntitle: 2024-05-01\n---\nThe dateline of this page.\n", "dateline"),
        Odd.utf8("number.md", "---\ntitle: 42\n---\nThe numberness of this page.\n", "numberness"),
        Odd.utf8("list.md", "---\n- a\n- b\n---\nThe listness of this page.\n", "listness"),
        Odd.utf8("bomb.md", _bomb() + "The billionth laugh.\n", "billionth"),
        Odd.utf8("unclosed front.md", "---\ntitle: Never closed\n\nThe openness of this page.\n", "openness"),
    ]


def shapes() -> list[Odd]:
    """Return pages that are too long, too wide, or not closed."""
    long_line = FILLER * 2_400 + "The farthermost word."
    large = "".join(f"## Part {n}\n\n{FILLER * 9}\n\n" for n in range(2_400)) + "## End\n\nThe uttermost word.\n"
    row = "| " + "cell of a wide table " * 2_570 + "| {} |\n"
    table = (
        "# Table\n\n" + row.format("a") + "| --- | --- |\n" + row.format("b") + row.format("tablemost") + "\nAfter.\n"
    )
    drawing = (
        '{"type": "excalidraw", "version": 2, "elements": [' + '{"type": "line", "points": [[0, 1]]},' * 300 + "0]}"
    )
    image = "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAA9b7" * 900
    return [
        Odd.utf8("long line.md", long_line, "farthermost"),
        Odd.utf8("large.md", "# Large\n\n" + large, "uttermost"),
        Odd.utf8(
            "fence.md", "# Fence\n\n```python\nprint('fenceless')\n\n# not a heading\n" + FILLER * 40, "fenceless"
        ),
        Odd.utf8("table.md", table, "tablemost"),
        Odd.utf8("drawing.md", f"# Drawing\n\nThe sketchiness of it.\n\n```json\n{drawing}\n```\n", "sketchiness"),
        Odd.utf8("image.md", f"# Image\n\n![photo]({image})\n\nThe pictureness below it.\n", "pictureness"),
    ]


def names() -> list[Odd]:
    """Return ordinary texts under names that no careful author gives."""
    odd_names = (
        " lead.md", "trail .md", "a folder / in it.md", "🦊 emoji.md", 'star *>?#"|<:.md', "back\\slash.md",
        "n" * 177 + ".md", "nfd Äö.md", "zero\u200bwidth\ufeff.md", "folder.md/page.md", "one/same.md", "two/same.md",
        "new\nline.md", "percent %20.md", "[[link]] ^block.md", "-rf.md", "dots...md", "rtl \u202egnp.md",
    )  # fmt: skip
    return [
        Odd.utf8(name, f"# A name\n\nUnder it stands marker{n}word and nothing else.\n", f"marker{n}word")
        for n, name in enumerate(odd_names)
    ]


def _bomb() -> str:
    levels = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    levels += [f"{b}: &{b} [{', '.join(['*' + a] * 9)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)]
    return "---\n" + "\n".join(levels) + "\n---\n"
