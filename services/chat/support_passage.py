"""A passage, prepared for being compared with many sentences: its units, their clauses, and which word is where.

Prepared passages are kept, as several sentences cite the same one. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from services.chat.languages import Language, language_of
from services.chat.sentences import Unit, readable, units_of
from services.chat.support_lexicon import STAND_INS
from services.chat.support_words import Token, plain_words, tokens_of

_KEPT = 64
"""Passages: those of a few turns at once."""

_MOST_UNITS = 3_000
"""Of one passage, some 400 kB: what is beyond is only found when it is quoted."""

_LETTERS_OF_PREFIX = 4
_SHORTEST_PART = 5
"""Letters that a word shares with a longer one, or lies within a compound, to be taken for the same."""

_NEIGHBOUR = 0.6
"""Factor of a word that only a neighbour has; 1 where one sentence leans on the one before."""

_REACH = 2
"""Neighbours on each side: a statement is rarely spread wider. Rows of a table don't help each other."""

SAME_BEGINNING = 0.85
SAME_STEM_CHANGED = 0.7
PART_OF_COMPOUND = 0.6


@dataclass(frozen=True, slots=True)
class Clause:
    """What is said between two commas or conjunctions."""

    stems: frozenset[str]
    numbers: tuple[Token, ...]
    lent: frozenset[str]
    """Stems of the clause before, when this one begins with a word that stands for something in it."""
    negative: bool
    fragment: bool
    """It begins with its negation (`… and not for samples`), so that it says only what is not."""


@dataclass(frozen=True, slots=True)
class ReadUnit:
    """A sentence, item, row or code block, cut into words."""

    unit: Unit
    tokens: tuple[Token, ...]
    stems: frozenset[str]
    surfaces: frozenset[str]
    numbers: tuple[Token, ...]
    clauses: tuple[Clause, ...]
    context: frozenset[str]
    """Stems of the headings that it stands under."""
    leans: bool
    """It begins with a word that stands for something said before."""


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """All texts under one number."""

    units: tuple[ReadUnit, ...]
    streams: tuple[str, ...]
    """All words in order, as they stand and with each row beside its headers: for finding quotes."""
    wholes: frozenset[str]
    """Each unit's words."""
    places: dict[str, tuple[int, ...]]
    """Stem to the units that have it."""
    numbered: tuple[tuple[int, tuple[Token, ...]], ...]
    """Units with numbers."""
    near: tuple[tuple[tuple[int, float], ...], ...]
    """For each unit the neighbours under the same heading, with the factor that their words count with."""
    names: frozenset[str]
    """Stems of every heading."""
    language: Language
    _beginnings: dict[str, tuple[str, ...]] = field(repr=False)

    def alike(self, stem: str) -> dict[str, float]:
        """Return the passage's stems that may be the same word, with how sure that is, 0 to 1."""
        found = {stem: 1.0} if stem in self.places else {}
        for other in self._beginnings.get(stem[:_LETTERS_OF_PREFIX], ()):
            if other != stem and (credit := _likeness(stem, other)):
                found[other] = credit
        if self.language == "de" and not found and len(stem) >= _SHORTEST_PART:
            for other in self.places:
                if len(other) >= _SHORTEST_PART and (stem in other or other in stem):
                    found[other] = PART_OF_COMPOUND
        return found


def _likeness(one: str, other: str) -> float:
    short, long = sorted((one, other), key=len)
    if long.startswith(short) and len(short) >= _LETTERS_OF_PREFIX and len(short) * 2 >= len(long):
        return SAME_BEGINNING
    shared = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return SAME_STEM_CHANGED if shared > _SHORTEST_PART and shared * 10 >= len(long) * 7 else 0.0


def read_passages(passages: Sequence[str]) -> ReadPassage:
    """Return the passages under one number as one."""
    return _read("\n\n".join(passages))


@lru_cache(maxsize=_KEPT)
def _read(text: str) -> ReadPassage:
    units: list[ReadUnit] = []
    for unit in units_of(text)[:_MOST_UNITS]:
        units.append(_read_unit(unit, units[-1] if units else None))
    places: dict[str, list[int]] = {}
    for index, unit in enumerate(units):
        for stem in unit.stems:
            places.setdefault(stem, []).append(index)
    beginnings: dict[str, list[str]] = {}
    for stem in places:
        beginnings.setdefault(stem[:_LETTERS_OF_PREFIX], []).append(stem)
    return ReadPassage(
        units=tuple(units),
        streams=(plain_words(readable(text)), plain_words("\n".join(unit.unit.text for unit in units))),
        wholes=frozenset(plain_words(text) for unit in units for text in (unit.unit.text, *_row(unit.unit))),
        places={stem: tuple(indexes) for stem, indexes in places.items()},
        numbered=tuple((index, unit.numbers) for index, unit in enumerate(units) if unit.numbers),
        near=tuple(tuple(_near(index, units)) for index in range(len(units))),
        names=frozenset(stem for unit in units if unit.unit.kind == "heading" for stem in unit.stems),
        language=language_of(text),
        _beginnings={prefix: tuple(stems) for prefix, stems in beginnings.items()},
    )


def _near(index: int, units: Sequence[ReadUnit]) -> Iterator[tuple[int, float]]:
    unit = units[index]
    for other in range(max(0, index - _REACH), min(len(units), index + _REACH + 1)):
        neighbour = units[other]
        two_rows = neighbour.unit.kind == unit.unit.kind == "row"
        if other != index and neighbour.unit.headings == unit.unit.headings and not two_rows:
            leans = (unit.leans and other == index - 1) or (neighbour.leans and other == index + 1)
            yield other, 1.0 if leans else _NEIGHBOUR


def _row(unit: Unit) -> tuple[str, ...]:
    """Return the words of a row without its headers; nothing of another unit."""
    return (" ".join(cell for _, cell in unit.cells),) if unit.cells else ()


@lru_cache(maxsize=4096)
def _heading_stems(headings: tuple[str, ...]) -> frozenset[str]:
    return frozenset(token.key for heading in headings for token in tokens_of(heading) if token.weight)


def _read_unit(unit: Unit, before: ReadUnit | None) -> ReadUnit:
    tokens = tokens_of(unit.text)
    first = next((token for token in tokens if token.kind != "break"), None)
    leans = first is not None and first.surface in STAND_INS and before is not None and before.unit.block == unit.block
    return ReadUnit(
        unit=unit,
        tokens=tokens,
        stems=frozenset(token.key for token in tokens if token.weight and token.kind != "number"),
        surfaces=frozenset(token.surface for token in tokens) | {token.unit for token in tokens if token.unit},
        numbers=tuple(token for token in tokens if token.kind == "number"),
        clauses=_clauses(unit, tokens, before.clauses[0].stems if leans and before else frozenset()),
        context=_heading_stems(unit.headings),
        leans=leans,
    )


def _clauses(unit: Unit, tokens: Sequence[Token], leaned_on: frozenset[str]) -> tuple[Clause, ...]:
    """Return the clauses of a unit: of a row its cells, each with its header and what the row is about."""
    if not unit.cells:
        first, *others = parts_of(tokens) or [[]]
        return (_clause(first, leaned_on), *(_clause(part) for part in others))
    about = tokens_of(unit.cells[0][1])
    return tuple(_clause([*tokens_of(f"{header} {cell}"), *about]) for header, cell in unit.cells)


_LEAST = 0.8
"""Weight of a clause of its own: one word of three letters."""


def parts_of(tokens: Sequence[Token], *, least: float = _LEAST) -> list[list[Token]]:
    """Return the tokens between ends of clauses; a part under `least` weight, or without words, joins its neighbour."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == "break" and _stands_alone(parts[-1], least):
            parts.append([])
        elif parts[-1] or token.kind != "break":
            parts[-1].append(token)
    if len(parts) > 1 and not _stands_alone(parts[-1], least):
        last = parts.pop()
        parts[-1] += [_BREAK, *last]
    return [part for part in parts if part]


_BREAK = Token("break", "", ",")


def _stands_alone(tokens: Sequence[Token], least: float) -> bool:
    words = any(token.weight and token.kind != "number" for token in tokens)
    return words and sum(token.weight for token in tokens) >= least


def _clause(tokens: Sequence[Token], lent: frozenset[str] = frozenset()) -> Clause:
    negatives = sum(token.negative for token in tokens)
    words = tuple(token.key for token in tokens if token.weight and token.kind != "number")
    return Clause(
        stems=frozenset(words),
        numbers=tuple(token for token in tokens if token.kind == "number"),
        lent=lent,
        negative=negatives % 2 == 1,
        fragment=bool(tokens) and tokens[0].negative,
    )
