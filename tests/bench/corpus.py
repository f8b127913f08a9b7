"""Generated notes of about 5 KB that look like a vault: the same for the same seed, on every machine.

Words come from a vocabulary of 30,000 with Zipf's frequencies (Zipf–Mandelbrot, offset 2.7); a third of a note's words
come from its topic, so that searches find something. Notes hold front matter with tags, headings, paragraphs, links,
a table and code. Any note can be made alone, so a large vault is never held in memory.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

VOCABULARY = 30_000
TOPICS = 60
SHELVES = 4
RARE_PAGES = 12
"""Pages with the rarest tag: more than a search asks for."""

NOTE_BYTES = 5_000
OLD_NS = 1_700_000_000 * 10**9
"""Modification time of every note: long ago, so that a sweep can trust it."""

_TOPIC_WORDS = 250
_TOPIC_SHARE = 0.33
_FUNCTION_WORDS = (
    "the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which"
    " one you were her all she there would their we him been has when who will more no if out so said what up its about"
)
_ONSETS = "b br c d dr f g h l m n p r s st t tr v w z"
_SYLLABLES = [onset + vowel for onset in _ONSETS.split() for vowel in "aeiou"]
_ENDINGS = ("", "", "n", "r", "l", "s", "nd", "rt", "ng", "ck")


@dataclass(frozen=True, slots=True)
class Note:
    """One file to be."""

    path: str
    text: str


class Corpus:
    """`size` notes, by index."""

    def __init__(self, size: int, seed: int = 1) -> None:
        self.size = size
        self._seed = seed

    def note(self, index: int) -> Note:
        """Return one note of about 5,000 bytes."""
        rng = np.random.default_rng((self._seed, index))
        title = self._words(rng, 3, index).title()
        tags = ", ".join(self.tags(index))
        parts = [f"---\ntitle: {title}\ntags: [{tags}]\ntype: concept\n---", f"# {title}"]
        left = NOTE_BYTES - sum(map(len, parts))
        while left > 0:
            section = self._section(rng, index, len(parts))
            parts += section
            left -= sum(map(len, section)) + 2 * len(section)
        return Note(self.path(index), "\n\n".join(parts) + "\n")

    def path(self, index: int) -> str:
        """Where a note lies: in one of 40 folders."""
        return f"wiki/area-{index % 40:02}/note-{index:06}.md"

    def tags(self, index: int) -> list[str]:
        """Tags of a note: a fourth, a sixtieth, and a dozen of all notes have the same."""
        rare = ["rare"] if index % max(1, self.size // RARE_PAGES) == 0 else []
        return [f"shelf-{index % SHELVES}", f"topic-{index % TOPICS}", *rare]

    def write(self, folder: Path, indexes: Sequence[int] | None = None) -> None:
        """Write notes below a folder, all of them unless told which."""
        for index in range(self.size) if indexes is None else indexes:
            note = self.note(index)
            file = folder / note.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(note.text)
            os.utime(file, ns=(OLD_NS, OLD_NS))

    def edited(self, text: str, edit: int) -> str:
        """Return the text with one paragraph in its middle written anew; each `edit` gives another one."""
        rng = np.random.default_rng((self._seed, self.size, edit))
        blocks = text.rstrip("\n").split("\n\n")
        prose = [number for number, block in enumerate(blocks) if block[0].isalpha() and ". " in block]
        chosen = prose[len(prose) // 2]
        blocks[chosen] = self._paragraph(rng, edit, len(blocks[chosen]))
        return "\n\n".join(blocks) + "\n"

    def queries(self, count: int) -> list[str]:
        """Return so many different queries of 2 to 6 words of the corpus, function words among them."""
        rng = np.random.default_rng((self._seed, self.size, 0, 1))
        found: dict[str, None] = {}
        while len(found) < count:
            found[self._words(rng, int(rng.integers(2, 7)), int(rng.integers(self.size)))] = None
        return list(found)

    def _section(self, rng: np.random.Generator, index: int, place: int) -> list[str]:
        heading = f"## {self._words(rng, 3, index).capitalize()}"
        paragraphs = [self._paragraph(rng, index, int(rng.integers(250, 600))) for _ in range(2)]
        return [heading, *paragraphs, *self._extra(rng, index, place)]

    def _extra(self, rng: np.random.Generator, index: int, place: int) -> list[str]:
        """Return links, a table or code, in turns."""
        match place % 4:
            case 0:
                rows = [f"| {self._words(rng, 2, index)} | {rng.integers(1000)} |" for _ in range(4)]
                return ["\n".join(("| what | how many |", "|---|---|", *rows))]
            case 1:
                lines = [f"{self._words(rng, 1, index)} = {rng.integers(1000)}" for _ in range(4)]
                return ["\n".join(("```python", *lines, "```"))]
            case _:
                other = (index + TOPICS * int(rng.integers(1, 8))) % self.size  # of the same topic
                return [f"See [[note-{other:06}]] and {self._words(rng, 4, index)}."]

    def _paragraph(self, rng: np.random.Generator, index: int, chars: int) -> str:
        sentences: list[str] = []
        while sum(map(len, sentences)) + len(sentences) < chars:
            sentences.append(self._words(rng, int(rng.integers(6, 18)), index).capitalize() + ".")
        return " ".join(sentences)

    def _words(self, rng: np.random.Generator, count: int, index: int) -> str:
        ranks = np.searchsorted(self._cumulated, rng.random(count))
        topical = rng.random(count) < _TOPIC_SHARE
        own = len(_FUNCTION_WORDS.split()) + (index % TOPICS) * _TOPIC_WORDS + rng.integers(_TOPIC_WORDS, size=count)
        return " ".join(self._vocabulary[rank] for rank in np.where(topical, own, ranks))

    @cached_property
    def _cumulated(self) -> npt.NDArray[np.float64]:
        weights = 1 / (np.arange(VOCABULARY) + 2.7)
        return np.cumsum(weights / weights.sum())[:-1]  # a draw above the last bound is the last word

    @cached_property
    def _vocabulary(self) -> list[str]:
        rng = np.random.default_rng(self._seed)
        words = dict.fromkeys(_FUNCTION_WORDS.split())
        while len(words) < VOCABULARY:
            syllables = rng.integers(len(_SYLLABLES), size=int(rng.integers(2, 5)))
            words["".join(_SYLLABLES[each] for each in syllables) + _ENDINGS[int(rng.integers(len(_ENDINGS)))]] = None
        return list(words)
