"""An answer as it is shown: its text, what each `[n]` is, and how well it is supported. Pure.

Made of the events of a running turn, or of a stored message; both are shown the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from shared.contracts.chat import (
    SupportLabel,
    TurnCancelled,
    TurnCitation,
    TurnDelta,
    TurnDone,
    TurnEnd,
    TurnEvent,
    TurnFailed,
    TurnSources,
)
from shared.contracts.search import Citation
from shared.contracts.stored_turns import CitedSpan, StoredMessage

State = Literal["done", "refused", "failed", "cancelled"]

DOUBTFUL: tuple[SupportLabel, ...] = ("weak", "unsupported")
"""Labels that a reader should know of."""

_LABELS: tuple[SupportLabel, ...] = ("quoted", "supported", "weak", "unsupported")


@dataclass(frozen=True, slots=True)
class Source:
    """What one `[n]` is, and the sentences that it is given for."""

    citation: Citation
    uses: tuple[CitedSpan, ...]

    @property
    def support(self) -> str:
        """How its sentences are supported: `quoted`, or `2 quoted, 1 weak`; empty when that was not checked."""
        counts = Counter(use.support for use in self.uses if use.support is not None)
        if len(counts) == 1:
            return next(iter(counts))
        return ", ".join(f"{counts[label]} {label}" for label in _LABELS if counts[label])

    @property
    def doubtful(self) -> bool:
        """Some sentence that cites it is not what it says."""
        return any(use.support in DOUBTFUL for use in self.uses)


@dataclass(slots=True)
class Answer:
    """An answer that grows with its turn's events; whole when `end` is there."""

    text: str = ""
    given: TurnSources | None = None
    uses: list[tuple[int, CitedSpan]] = field(default_factory=list[tuple[int, CitedSpan]])
    end: TurnEnd | None = None
    interrupted: bool = False
    """The reader stopped it."""

    def take(self, event: TurnEvent) -> None:
        """Grow by one event."""
        if isinstance(event, TurnSources):
            self.given = event
        elif isinstance(event, TurnDelta):
            self.text += event.text
        elif isinstance(event, TurnCitation):
            self.uses.append((event.n, CitedSpan.model_validate(event.model_dump(exclude={"n"}))))
        elif isinstance(event, TurnEnd):
            self.end = event

    @property
    def state(self) -> State:
        """How the turn ended; without its end it counts as cancelled."""
        if isinstance(self.end, TurnDone):
            return "refused" if self.end.refused else "done"
        return "failed" if isinstance(self.end, TurnFailed) else "cancelled"

    @property
    def reason(self) -> str | None:
        """Why a cancelled turn was."""
        return self.end.reason if isinstance(self.end, TurnCancelled) else None

    @property
    def lost(self) -> int:
        """Characters of the answer that did not arrive: the server lost them before they were read."""
        return max(0, self.end.characters - len(self.text)) if self.end is not None else 0

    @property
    def sources(self) -> list[Source]:
        """What the answer cites, by number."""
        citations = self.given.citations if self.given is not None else ()
        return cited(citations, self.uses)


def cited(citations: Sequence[Citation], uses: Sequence[tuple[int, CitedSpan]]) -> list[Source]:
    """Return the citations that are used, by number, with their uses."""
    used = {number for number, _ in uses}
    return [
        Source(citation, tuple(use for number, use in uses if number == citation.n))
        for citation in sorted(citations, key=lambda citation: citation.n)
        if citation.n in used
    ]


def sources_of(message: StoredMessage) -> list[Source]:
    """Return what a stored answer cites, by number."""
    return [Source(citation, citation.spans) for citation in message.citations if citation.spans]


def doubtful_sentences(text: str, sources: Sequence[Source]) -> list[tuple[str, int, CitedSpan]]:
    """Return sentence, number and span of what is weakly supported or not at all, in the answer's order."""
    found = [(use, source.citation.n) for source in sources for use in source.uses if use.support in DOUBTFUL]
    found.sort(key=lambda each: (each[0].start, each[0].marker_start))
    return [(" ".join(text[use.start : use.end].split()), number, use) for use, number in found]
