"""Answers as JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence

from deploy.embedded.cli.answer import Answer, Source
from deploy.embedded.cli.answer_view import how_it_ended
from deploy.embedded.cli.hits import place
from shared.contracts.chat import ChatRequest, TurnDone
from shared.errors import CitebusError, RetryableError


def answer_json(vault_id: str, request: ChatRequest, answer: Answer) -> dict[str, object]:
    """Return a turn as one object; `error` says why there is no whole answer, and is null when there is one."""
    end = answer.end.model_dump(mode="json") if answer.end is not None else {}
    done = answer.end if isinstance(answer.end, TurnDone) else None
    kept = ("conversation_id", "message_id", "usage", "cost", "provider", "model", "removed_markers", "timings_ms")
    failed = {"code": end.get("code") or answer.reason or "cancelled", "message": how_it_ended(answer.end)}
    return {
        "vault": vault_id,
        "question": request.question,
        "turn_id": str(request.turn_id),
        "state": answer.state,
        "answer": answer.text,
        "citations": sources_json(answer.sources),
        "given": len(answer.given.citations) if answer.given is not None else 0,
        "support": done.support.model_dump() if done is not None else None,
        "finish_reason": done.finish_reason if done is not None else None,
        "refusal": done.refusal if done is not None else None,
        **{name: end.get(name) for name in kept},
        "error": None if done is not None else failed,
    }


def error_json(question: str, error: CitebusError) -> dict[str, object]:
    """Return what kept a question from being asked, as JSON."""
    told: dict[str, object] = {"code": error.code, "message": str(error)}
    if isinstance(error, RetryableError) and error.retry_after_s is not None:
        told["retry_after_ms"] = round(error.retry_after_s * 1000)
    return {"question": question, "state": "failed", "error": told}


def sources_json(sources: Sequence[Source]) -> list[dict[str, object]]:
    """Return the cited sources with place, support and the spans of the answer that cite them."""
    return [
        {
            "n": source.citation.n,
            "title": source.citation.ref.title,
            "place": place(source.citation),
            "support": source.support or None,
            "stale": source.citation.stale is not None,
            "spans": [use.model_dump(mode="json") for use in source.uses],
            "citation": source.citation.model_dump(mode="json", exclude={"spans"}),
        }
        for source in sources
    ]
