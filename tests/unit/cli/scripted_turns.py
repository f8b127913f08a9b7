"""Turns by script: what the stream TURNS holds once a question was accepted, and what a cancel adds."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import UUID

from nats.aio.client import Client
from nats.aio.msg import Msg

from shared.contracts.chat import (
    ChatAccepted,
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

CONVERSATION_ID = UUID("00000000-0000-4000-8000-0000000000c0")
MESSAGE_ID = UUID("00000000-0000-4000-8000-0000000000a0")
ANY_TURN = UUID(int=0)

OnEvent = Callable[[Msg], Awaitable[None]]


@dataclass(frozen=True)
class Turn:
    """Events of one turn; ids and numbers are filled in."""

    events: Sequence[TurnEvent]
    after_cancel: Sequence[TurnEvent] = ()
    interrupts: int = 0
    """How often Ctrl-C is pressed when the events are there."""


@dataclass
class ScriptedTurns:
    """Plays one turn after another, to whoever listens to the subject; as deploy.embedded.bus_requests.Streams."""

    turns: deque[Turn] = field(default_factory=deque[Turn])
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    cancelled: list[str] = field(default_factory=list[str])
    listening: dict[str, OnEvent] = field(default_factory=dict[str, OnEvent])
    subscribed: list[str] = field(default_factory=list[str])
    stored: dict[str, list[bytes]] = field(default_factory=dict[str, list[bytes]])

    async def subscribe(self, subject: str, *, stream: str, ordered_consumer: bool, cb: OnEvent) -> Listening:
        assert (stream, ordered_consumer) == ("TURNS", True)
        self.subscribed.append(subject)
        self.listening[subject] = cb
        for data in self.stored.get(subject, []):
            await cb(_message(data))
        return Listening(self, subject)

    async def accept(self, request: dict[str, Any], subject: str) -> ChatAccepted:
        """Answer a question, and begin its turn."""
        self.requests.append(request)
        turn_id, vault_id = UUID(request["turn_id"]), subject.rpartition(".")[2]
        events_on = f"citebus.v1.turn.{vault_id}.{turn_id}"
        assert events_on in self.listening, "listened to before it was asked"
        turn = self.turns[0]
        await self.tell(events_on, turn.events)
        for _ in range(turn.interrupts):
            os.kill(os.getpid(), signal.SIGINT)
        return ChatAccepted(
            turn_id=turn_id,
            conversation_id=CONVERSATION_ID,
            question_id=MESSAGE_ID,
            message_id=MESSAGE_ID,
            stream="TURNS",
            subject=events_on,
        )

    async def tell(self, subject: str, events: Sequence[TurnEvent]) -> None:
        """Store events, and tell them to who listens."""
        stored = self.stored.setdefault(subject, [])
        numbers = count(len(stored) + 1)
        for event in events:
            about = {"turn_id": UUID(subject.rpartition(".")[2]), "seq": next(numbers)}
            stored.append(event.model_copy(update=about).to_json())
            if subject in self.listening:
                await self.listening[subject](_message(stored[-1]))
        if stored and self.turns and events and isinstance(events[-1], TurnEnd):
            self.turns.popleft()

    async def publish(self, subject: str) -> None:
        """Take a cancel."""
        self.cancelled.append(subject)
        await self.tell(subject.replace(".cancel.", ".turn."), self.turns[0].after_cancel)


@dataclass
class Listening:
    """A subscription."""

    streams: ScriptedTurns
    subject: str

    async def unsubscribe(self) -> None:
        self.streams.listening.pop(self.subject, None)


def sources(*citations: Citation, **fields: Any) -> TurnSources:
    known = {"turn_id": ANY_TURN, "seq": 1, "query": "q", "data_version": 7, "retriever": "hybrid"}
    return TurnSources.model_validate({**known, "citations": citations, **fields})


def deltas(*pieces: str) -> list[TurnDelta]:
    starts = [len("".join(pieces[:index])) for index in range(len(pieces))]
    return [
        TurnDelta(turn_id=ANY_TURN, seq=1, text=piece, start=start) for piece, start in zip(pieces, starts, strict=True)
    ]


def use(answer: str, sentence: str, n: int, support: SupportLabel | None) -> TurnCitation:
    """Cite [n] for a sentence of the answer."""
    start, marker = answer.index(sentence), answer.index(f"[{n}]")
    return TurnCitation(
        turn_id=ANY_TURN,
        seq=1,
        n=n,
        start=start,
        end=start + len(sentence),
        marker_start=marker,
        marker_end=marker + 3,
        support=support,
        score=0.5,
    )


def done(**fields: Any) -> TurnDone:
    return TurnDone.model_validate({**_END, "citations": (), "finish_reason": "stop", **fields})


def refused(text: str) -> Turn:
    end = done(finish_reason="refused", refused=True, refusal="nothing_found", usage=None, cost=None, provider=None)
    return Turn([*deltas(text), end])


def failed(code: str, message: str) -> TurnFailed:
    return TurnFailed.model_validate({**_END, "code": code, "message": message})


def cancelled(reason: str) -> TurnCancelled:
    return TurnCancelled.model_validate({**_END, "reason": reason})


_END: dict[str, Any] = {
    "turn_id": ANY_TURN,
    "seq": 1,
    "conversation_id": CONVERSATION_ID,
    "message_id": MESSAGE_ID,
    "usage": {"input_tokens": 1200, "output_tokens": 34},
    "cost": "0.0042",
    "provider": "openai",
    "model": "gpt-4o",
    "timings_ms": {"search": 12.0, "total": 345.0},
}


def _message(data: bytes) -> Msg:
    return Msg(_client=Client(), data=data)
