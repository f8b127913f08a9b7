"""Takes German compounds apart: Umsatzsteuervoranmeldung is Umsatzsteuer and Voranmeldung, and that Umsatz and Steuer.

A word is split where both sides are words of a list, perhaps with a linking s, es, n or en between them: without a
link if possible, then where the shorter side is longest. The list is the German dictionary in the wheel
`pyspellchecker`, read as data (docs/adr/0009).
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Set
from functools import cache
from importlib.util import find_spec
from pathlib import Path

PART_MIN_CHARS = 4
"""Shorter words are found within nearly every other one."""
PART_MAX_CHARS = 12
"""Longer ones are compounds themselves; words of up to 14 would make the list a third longer, and nothing better."""
COMPOUND_MIN_CHARS = 9
COMPOUND_MAX_CHARS = 40
"""A longer word is rarely one, and the places to try multiply."""

_LINKS = ("", "s", "es", "n", "en")
_WORD = re.compile(rf'"([a-zäöüß]{{{PART_MIN_CHARS},{PART_MAX_CHARS}}})"')


def compound_parts(word: str) -> tuple[str, ...]:
    """Return the parts of a German word in lower case, which may be compounds again; none when it is no compound.

    Umlauts must be written as such. About 10 µs; the first call reads the list (0.2 s, 28 MB).
    """
    lower = word.lower()
    if not COMPOUND_MIN_CHARS <= len(lower) <= COMPOUND_MAX_CHARS:
        return ()
    return _split(lower, _words())


def _split(word: str, words: Set[str]) -> tuple[str, ...]:
    """Return the best split into two words, else into more, of which the last is as long as can be; else nothing."""
    tails = [at for at in range(PART_MIN_CHARS, len(word) - PART_MIN_CHARS + 1) if word[at:] in words]
    twos = [(front, word[at:]) for at in tails for front in _fronts(word[:at]) if front in words]
    if twos:
        return max(twos, key=lambda two: (len(two[0]) + len(two[1]), min(map(len, two))))
    for at in tails:
        for front in _fronts(word[:at]):
            if parts := _split(front, words):
                return (*parts, word[at:])
    return ()


def _fronts(front: str) -> Iterator[str]:
    """Yield the front of a compound as it is, and without each link that it may end in."""
    for link in _LINKS:
        if front.endswith(link) and len(front) - len(link) >= PART_MIN_CHARS:
            yield front[: len(front) - len(link)]


@cache
def _words() -> frozenset[str]:
    spec = find_spec("spellchecker")
    (folder,) = spec.submodule_search_locations if spec and spec.submodule_search_locations else ("",)
    with gzip.open(Path(folder) / "resources" / "de.json.gz", "rt", encoding="utf-8") as file:
        return frozenset(match[1] for match in _WORD.finditer(file.read()))
