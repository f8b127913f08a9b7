"""Turns what a provider writes into events: deltas at once, citations as soon as their sentence is complete."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from services.chat.cited_sentences import CitedSentence, CitedSentences
from services.chat.clean_text import DeltaCleaner
from services.chat.history import without_markers
from services.chat.markers import MarkerParser, Parsed
from services.chat.ports import SupportCheck
from services.chat.repetition import RepetitionGuard
from services.chat.turn_log import TurnLog
from shared.contracts.chat import FinishReason, TurnCitation, TurnDelta, TurnEvent


@dataclass(frozen=True, slots=True)
class Writing:
    """How an answer is written."""

    passages: Mapping[int, Sequence[str]]
    """Texts by the number that cites them."""
    support: SupportCheck | None
    max_bytes: int
    """Of the answer, as UTF-8."""
    stream: bool = True
    """False: one delta, when the answer is whole."""


class AnswerWriter:
    """Writes one answer. Only one task uses it."""

    def __init__(self, log: TurnLog, writing: Writing) -> None:
        self._log = log
        self._writing = writing
        self._cleaner = DeltaCleaner()
        self._parser = MarkerParser(writing.passages)
        self._sentences = CitedSentences()
        self._guard = RepetitionGuard()
        self._text = ""
        self._held: list[Parsed] = []
        self._streamed = 0
        self._outbox: deque[tuple[type[TurnEvent], dict[str, Any]]] = deque()
        self._bytes = 0
        self.support_s = 0.0
        """Time that went into checking."""

    @property
    def text(self) -> str:
        """The answer so far, also what is not streamed yet."""
        return self._text

    @property
    def removed_markers(self) -> int:
        """Numbers that were removed."""
        return self._parser.removed

    async def write(self, text: str) -> FinishReason | None:
        """Take the provider's next piece; return why nothing more is wanted, else None. Raises Unavailable."""
        text, cut = self._within_limit(self._cleaner.feed(text))
        await self._take(self._parser.feed(text))
        if cut:
            return "length"
        return "repetition" if self._guard.repeats(text) else None

    async def finish(self) -> None:
        """Stream what was held back. Raises Unavailable."""
        await self._drain()
        text, _ = self._within_limit(self._cleaner.finish())
        await self._take(self._parser.feed(text))
        await self._take(self._parser.finish())
        held, self._held = self._held, []
        if held:
            markers = tuple(marker for parsed in held for marker in parsed.markers)
            await self._stream(Parsed("".join(parsed.text for parsed in held), markers))
        self._cite(self._sentences.finish())
        await self._drain()

    def _within_limit(self, text: str) -> tuple[str, bool]:
        left = self._writing.max_bytes - self._bytes
        size = len(text.encode())
        if size > left:
            text = text.encode()[:left].decode(errors="ignore")
        self._bytes += size
        return text, size > left

    async def _take(self, parsed: Parsed) -> None:
        self._text += parsed.text
        if self._writing.stream:
            await self._stream(parsed)
        else:
            self._held.append(parsed)

    async def _stream(self, parsed: Parsed) -> None:
        if parsed.text:
            self._outbox.append((TurnDelta, {"text": parsed.text, "start": self._streamed}))
            self._streamed += len(parsed.text)
        self._cite(self._sentences.feed(parsed.text, parsed.markers))
        await self._drain()

    async def _drain(self) -> None:
        """Send what waits; what is under way when the work is broken off counts as sent, the log settles it."""
        while self._outbox:
            kind, fields = self._outbox.popleft()
            await self._log.emit(kind, **fields)

    def _cite(self, cited: Sequence[CitedSentence]) -> None:
        for each in cited:
            label, score = self._checked(each)
            place = {"start": each.start, "end": each.end}
            marker = {"n": each.marker.n, "marker_start": each.marker.start, "marker_end": each.marker.end}
            self._outbox.append((TurnCitation, {**place, **marker, "support": label, "score": score}))

    def _checked(self, cited: CitedSentence) -> tuple[str | None, float | None]:
        if self._writing.support is None:
            return None, None
        started = time.perf_counter()
        sentence = without_markers(self._text[cited.start : cited.end])
        support = self._writing.support.check(sentence, self._writing.passages[cited.marker.n])
        self.support_s += time.perf_counter() - started
        return support.label, support.score
