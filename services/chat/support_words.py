"""Cuts text into the words and numbers that claims and passages are compared by.

Case, accents, typographic signs and Markdown marks are folded away; inflections are cut off lightly (no dictionary);
numbers keep their unit, and every reading that their separators allow (`1,200` is 1200 and 1.2). Scripts without
blanks are compared by pairs of characters. Pure and linear.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from services.chat.languages import EVERY_STOP_WORD, word_set
from services.chat.support_lexicon import (
    ENDS_OF_CLAUSES,
    FAMILIES,
    NEGATIONS,
    NEGATIVE_SIGNS,
    NUMBER_WORDS,
    PHRASES,
    UNITS,
)
from services.chat.support_numbers import readings

Kind = Literal["word", "name", "number", "dense", "function", "break"]

NUMBER_WEIGHT = 2.5
NAME_WEIGHT = 1.6
DENSE_WEIGHT = 0.5
"""Of a pair of characters: a word of Chinese is about two."""

_SIGNS = str.maketrans({
    "’": "'", "‘": "'", "‚": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"',
    "–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " ",
    "\u2060": "", "\u200b": "", "\u00ad": "", "ß": "ss", "œ": "oe", "æ": "ae", "ø": "o", "½": ".5",
} | {chr(full): chr(full - 0xFEE0) for full in range(0xFF01, 0xFF5F)})  # fmt: skip
_DENSE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_TOKEN = re.compile(
    rf"(?P<dense>[{_DENSE}]+)"
    r"|(?P<date>\d{4}-\d\d-\d\d)(?!\d)"
    r"|(?P<id>[^\W\d_]{1,6}-?\d+(?:-\d+)*\b|\d{1,2}:\d\d)"
    r"|(?P<number>(?:(?<![\w)\]])-)?\d+(?:[.,' ]\d{3}(?!\d))*(?:[.,]\d+)?)"
    r"(?: ?(?P<unit>%|°[CcFf]|[A-Za-zµ€$]+(?:/[A-Za-z]+)?[²³]?)(?![\w]))?"
    r"|(?P<word>[^\W\d_]+(?:'(?=[^\W\d_])[^\W\d_]+)?)"
    r"|(?P<break>[;:()\[\]]|,(?=\s)|\s-+\s)",
)
_ELISION = re.compile(r"\b(?:[cdjlmnst]|qu|jusqu|lorsqu)'(?=\w)", re.IGNORECASE)
_NT = re.compile(r"n't\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"'s?\b")
_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+|\n\s*)[\"'(*_]*$")


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number or end of a clause."""

    kind: Kind
    key: str
    """Stem of a word, the number as written."""
    surface: str
    """Folded, not stemmed."""
    weight: float = 0.0
    readings: frozenset[str] = frozenset()
    """Of a number."""
    unit: str | None = None
    negative: bool = False
    """It turns what is said around."""


def folded(text: str) -> str:
    """Return `text` in lower case without accents, typographic signs and emphasis, phrases brought to one word."""
    text = _without_accents(text).casefold()
    for pattern, word in _PHRASES:
        text = pattern.sub(word, text)
    return text


_PHRASES = tuple((re.compile(pattern), word) for pattern, word in PHRASES)


def plain_words(text: str) -> str:
    """Return all words and numbers of `text`, folded, with single blanks around each: for finding quotes."""
    return f" {' '.join(_PLAIN.findall(_without_accents(text).casefold()))} "


_PLAIN = re.compile(rf"[{_DENSE}]|(?:(?<!\w)-)?\d+(?:[.,]\d+)*|[^\W\d_]+|[%°€$<>=/]")


def tokens_of(text: str) -> tuple[Token, ...]:
    """Return what `text` says, in order."""
    names = _names(text)
    tokens: list[Token] = []
    for found in _TOKEN.finditer(_NT.sub(" not", _ELISION.sub("", folded(text)))):
        kind = found.lastgroup if found.lastgroup != "unit" else "number"
        if kind == "number":
            tokens += _number(found["number"], found["unit"])
        elif kind == "word":
            tokens.append(_word(found["word"], names))
        elif kind == "dense":
            tokens += _dense(found["dense"])
        elif kind == "date":
            tokens += [_plain_number(part) for part in found["date"].split("-")]
        elif kind == "id":
            tokens.append(Token("number", found["id"], found["id"], NUMBER_WEIGHT, frozenset({found["id"]}), "id"))
        else:
            tokens.append(Token("break", "", found.group()))
    return tuple(_measured(tokens))


def _measured(tokens: Sequence[Token]) -> Iterator[Token]:
    """Give a number in words the unit that follows it."""
    taken = False
    for token, following in zip(tokens, [*tokens[1:], None], strict=False):
        if taken:
            taken = False
        elif (
            token.kind == "number"
            and token.unit is None
            and following
            and following.surface in UNITS
            and token.surface in NUMBER_WORDS
        ):
            taken = True
            yield replace(token, unit=UNITS[following.surface])
        else:
            yield token


def _names(text: str) -> frozenset[str]:
    """Return the folded words that are written like names: a capital amid a sentence. German nouns are, too."""
    found: set[str] = set()
    for word in re.finditer(r"[^\W\d_]{2,}", text):
        if word.group()[0].isupper() and not _SENTENCE_START.search(text, max(0, word.start() - 4), word.start()):
            found.add(_without_accents(word.group()).casefold())
    return frozenset(found)


def _word(surface: str, names: frozenset[str]) -> Token:
    surface = _POSSESSIVE.sub("", surface) if surface not in NEGATIONS else surface
    if surface in NEGATIONS:
        return Token("function", surface, surface, negative=True)
    if surface in ENDS_OF_CLAUSES:
        return Token("break", surface, surface)
    if surface in NUMBER_WORDS:
        value = NUMBER_WORDS[surface]
        return Token("number", value, surface, 1.0, frozenset({value}))
    if surface in _FUNCTION or surface in {"atmost", "atleast"} or (len(surface) < 2 and surface.isascii()):
        return Token("function", surface, surface)
    if surface in names:
        return Token("name", stem(surface), surface, NAME_WEIGHT)
    return Token("word", stem(surface), surface, _word_weight(surface))


_MODAL = word_set(
    "must need needs needed shall may might can could should would will has have had having been being be is are was "
    "also only just already still even very much many such about within during per each every any whenever whatever "
    "muss mussen darf durfen kann konnen soll sollen wird werden wurde wurden worden bleibt bleiben sowie jedoch "
    "doit doivent peut peuvent faut fait sont etait sera chaque lors afin donc ainsi deja"
)
_FUNCTION = frozenset(
    unicodedata.normalize("NFD", word.replace("ß", "ss")).encode("ascii", "ignore").decode() for word in EVERY_STOP_WORD
) | _MODAL - frozenset({"before", "after", "under", "over"})


def _word_weight(surface: str) -> float:
    """Longer words are rarer and say more."""
    return min(1.4, 0.6 + 0.08 * len(surface))


def _number(written: str, unit: str | None) -> list[Token]:
    known = UNITS.get(unit.casefold()) if unit else None
    number = Token("number", written, written, NUMBER_WEIGHT, readings(written), known)
    if unit is None or known is not None:
        return [number]
    return [number, *tokens_of(unit)]


def _plain_number(written: str) -> Token:
    return Token("number", written, written, NUMBER_WEIGHT, readings(written))


def _dense(run: str) -> list[Token]:
    pairs = [run[at : at + 2] for at in range(max(1, len(run) - 1))]
    negative = [sign for sign in run if sign in NEGATIVE_SIGNS]
    turned = [Token("function", sign, sign, negative=True) for sign in negative]
    return turned + [Token("dense", pair, pair, DENSE_WEIGHT) for pair in pairs]


_ENDINGS = (
    "ations", "ation", "ements", "ement", "ments", "ment", "ungen", "ung", "ingly", "edly", "ings", "ing", "ies",
    "ically", "lichen", "liche", "lich", "ences", "ence", "eurs", "ives", "ive", "ees", "ee", "es", "ed", "en",
    "em", "er", "est", "et", "te", "ten", "ly", "s", "e", "y",
)  # fmt: skip
_SHORTEST_STEM = 4


@lru_cache(maxsize=16_384)
def stem(surface: str) -> str:
    """Return a folded word without its usual endings (English, German, French); never under three letters."""
    if surface in FAMILIES:
        return FAMILIES[surface]
    word = _cut(surface)
    return _FAMILIES_BY_STEM.get(word, word)


def _shortest(ending: str) -> int:
    return 3 if ending in {"ing", "ed", "s", "es", "e"} else _SHORTEST_STEM


_PARTICIPLE = re.compile(
    r"(ab|an|auf|aus|bei|ein|fest|frei|her|hin|los|mit|nach|um|vor|weg|zu|zuruck)ge(?=\w{3,}(?:t|en)$)"
)
"""German puts `ge` between a verb and its prefix: umgelagert, umlagern."""


def _cut(word: str) -> str:
    word = _PARTICIPLE.sub(r"\1", word)
    for _ in range(2):
        ending = next((end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= _shortest(end)), "")
        word = word[: len(word) - len(ending)]
    return word[:-1] if len(word) > _SHORTEST_STEM and word[-1] == word[-2] else word


_FAMILIES_BY_STEM = {_cut(form): head for form, head in FAMILIES.items()}


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    text = text.translate(_SIGNS)
    if text.isascii():
        return text
    return "".join(
        character for character in unicodedata.normalize("NFD", text) if not unicodedata.combining(character)
    )
