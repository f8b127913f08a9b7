"""What is stored of an answer, folded from the very events that were streamed: the two can't differ. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from shared.contracts.chat import (
    CitedPage,
    SupportCounts,
    TurnCancelled,
    TurnCitation,
    TurnDelta,
    TurnDone,
    TurnEnd,
    TurnEvent,
    TurnFailed,
    TurnSources,
)
from shared.contracts.stored_turns import CitedSpan, MessageState, StoredCitation, StoredMessage


def answer_text(events: Sequence[TurnEvent]) -> str:
    """Return the answer: its deltas joined."""
    return "".join(event.text for event in events if isinstance(event, TurnDelta))


def stored_citations(events: Sequence[TurnEvent]) -> tuple[StoredCitation, ...]:
    """Return every citation that was given, with the places where the answer uses it."""
    spans: dict[int, list[CitedSpan]] = {}
    for event in events:
        if isinstance(event, TurnCitation):
            span = CitedSpan.model_validate(event.model_dump())
            spans.setdefault(event.n, []).append(span)
    return tuple(
        StoredCitation(**dict(citation), spans=tuple(spans.get(citation.n, ())))
        for event in events
        if isinstance(event, TurnSources)
        for citation in event.citations
    )


def cited_pages(citations: Sequence[StoredCitation]) -> tuple[CitedPage, ...]:
    """Return the pages that the answer uses, by number."""
    return tuple(
        CitedPage(n=each.n, id=each.ref.id, title=each.ref.title, slug=each.ref.slug)
        for each in citations
        if each.spans
    )


def support_counts(citations: Sequence[StoredCitation]) -> SupportCounts:
    """Return how many citations are supported how; those that were not checked are in none."""
    labels = Counter(span.support for each in citations for span in each.spans if span.support is not None)
    return SupportCounts.model_validate(dict(labels))


def stored_answer(message: StoredMessage, events: Sequence[TurnEvent], ending: TurnEnd) -> StoredMessage:
    """Return the message as it is stored once the turn has ended; `message` is the one that streamed."""
    citations = stored_citations(events)
    return message.model_copy(
        update={
            "text": answer_text(events),
            "citations": citations,
            "support": support_counts(citations),
            "usage": ending.usage,
            "cost": ending.cost,
            "provider": ending.provider,
            "model": ending.model,
            "removed_markers": ending.removed_markers,
            "timings_ms": ending.timings_ms,
            "last_seq": ending.seq,
            **_outcome(ending),
        }
    )


def _outcome(ending: TurnEnd) -> dict[str, object]:
    state: MessageState = "cancelled"
    if isinstance(ending, TurnDone):
        state = "refused" if ending.refused else "done"
        return {"state": state, "finish_reason": ending.finish_reason, "refusal": ending.refusal}
    if isinstance(ending, TurnFailed):
        return {"state": "failed", "error_code": ending.code, "error": ending.message}
    if isinstance(ending, TurnCancelled):
        return {"state": state, "error": _CANCELLED[ending.reason]}
    return {"state": state}


_CANCELLED = {"asked": "Cancelled.", "deadline": "The time for the turn was over.", "shutdown": "The service stopped."}
