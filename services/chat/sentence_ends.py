"""Where sentences end: English, German and French well, other languages by their full stops.

A full stop ends nothing behind an abbreviation, a single letter or an ordinal of a German date, nor before a word in
lower case. Pure; the parts joined by blanks are the text.
"""

from __future__ import annotations

import re

_END = re.compile(r"[.!?…]+[\"'”’»)\]*_]*(?=\s)|[。！？]+[」』”）]*|[।۔؟](?=\s)")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'„«])(?:"
    r"[A-Za-zÀ-ÖØ-öø-ÿ]|[A-Z]\.[A-Z]"  # initials, and the halves of z. B.
    r"|e\.g|i\.e|z\.\s?B|d\.\s?h|u\.\s?a|u\.\s?U|o\.\s?ä|p\.\s?ex|c\.-à-d|s\.\s?o|s\.\s?u|a\.m|p\.m"
    r"|cf|vgl|bzw|ca|approx|env|inkl|evtl|ggf|usf|max|min|bspw|sog|vs|al"
    r"|[Nn]r|[Nn]os?|[Ff]igs?|[Aa]bb|[Tt]ab|[Ss]ec|[Aa]bs|[Aa]rt|[Vv]ol|[Ee]d|[Pp]p"
    r"|Mrs?|Ms|Dr|Prof|St|Hr|Fr|Mme|Mlle|MM|Jr|Sr|Inc|Ltd|Co|Corp|Gen|Col|Sgt|Rev"
    r"|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Okt|Nov|Dec|Dez"
    r")\.$"
)
_ORDINAL = re.compile(r"(?:^|\s)\d{1,2}\.$")
_GERMAN_AFTER_ORDINAL = re.compile(
    r"\s(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Jahrhundert|Auflage|Tag)"
)
_LOWER = re.compile(r"\s+[a-zà-öø-ÿ]")
_LOOK_BACK = 14
"""Characters that the longest abbreviation takes, and what stands before it."""


def split_sentences(text: str) -> list[str]:
    """Return the sentences of one line of text, stripped, none empty."""
    parts: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if _goes_on(text, end):
            continue
        parts.append(text[start : end.end()].strip())
        start = end.end()
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _goes_on(text: str, end: re.Match[str]) -> bool:
    if _LOWER.match(text, end.end()):
        return True
    if end.group() != ".":
        return False
    before = text[max(0, end.end() - _LOOK_BACK) : end.end()]
    if _ABBREVIATION.search(before):
        return True
    return _ORDINAL.search(before) is not None and _GERMAN_AFTER_ORDINAL.match(text, end.end()) is not None
