"""The chat engine on fakes, and short ways to ask it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from services.chat.announcing import Announcer
from services.chat.answering import AnswerBounds, Answering, Judges
from services.chat.asking import Asking
from services.chat.ending import Endings
from services.chat.ports import Prices
from services.chat.provider import ChatProvider
from services.chat.record import answer_text
from services.chat.running_turns import RunningTurns
from services.chat.upkeep import Upkeep, UpkeepTimes
from shared.contracts.chat import ChatAccepted, ChatRequest, TurnEnd, TurnEvent
from shared.contracts.search import SearchReply
from shared.contracts.stored_turns import StoredMessage
from shared.errors import CitebusError
from tests.fakes.found_passages import sauerkraut
from tests.fakes.in_memory_turns import FixedSearch, InMemoryTurns, InMemoryTurnStream, OneVault
from tests.fakes.scripted_provider import OneProvider


@dataclass
class Turned:
    """A turn that is over."""

    accepted: ChatAccepted
    events: list[TurnEvent]
    message: StoredMessage | None

    @property
    def end(self) -> Any:
        """The last event."""
        return self.events[-1]

    @property
    def text(self) -> str:
        """The answer as streamed."""
        return answer_text(self.events)


@dataclass
class Scene:
    """One chat process."""

    provider: ChatProvider
    found: SearchReply | CitebusError = field(default_factory=sauerkraut)
    judges: Judges = field(default_factory=Judges)
    bounds: AnswerBounds = field(default_factory=AnswerBounds)
    prices: Prices | None = None
    pages: tuple[str, ...] = ()
    store: InMemoryTurns = field(default_factory=InMemoryTurns)
    stream: InMemoryTurnStream = field(default_factory=InMemoryTurnStream)
    limit: int = 8

    def __post_init__(self) -> None:
        self.search = FixedSearch(self.found)
        self.announcer = Announcer(self.store, self.stream)
        endings = Endings(self.store, self.announcer, self.prices)
        answering = Answering(self.search, self.stream, endings, self.judges, self.bounds)
        self.running = RunningTurns(answering, self.limit)
        providers = OneProvider(self.provider)
        self.asking = Asking(self.store, self.stream, OneVault(self.pages), providers, self.running)
        self.upkeep = Upkeep(self.store, self.stream, self.announcer, self.running, UpkeepTimes())

    async def start(self, question: str = "How much salt does sauerkraut take?", **more: Any) -> ChatAccepted:
        """Ask, and leave the turn to run."""
        request = ChatRequest(question=question, turn_id=more.pop("turn_id", None) or uuid4(), **more)
        return await self.asking.ask("kitchen", request)

    async def ask(self, question: str = "How much salt does sauerkraut take?", **more: Any) -> Turned:
        """Ask, and wait for the end."""
        return await self.over(await self.start(question, **more))

    async def over(self, accepted: ChatAccepted) -> Turned:
        """Wait until the turn is no longer running here."""
        async with asyncio.timeout(10):
            while accepted.message_id in self.running.message_ids:  # noqa: ASYNC110
                await asyncio.sleep(0)
        return self.turned(accepted)

    def turned(self, accepted: ChatAccepted) -> Turned:
        """Return what the stream and the store have of the turn."""
        row = self.store.rows.get(accepted.message_id)
        return Turned(accepted, self.stream.events.get(accepted.turn_id, []), row.message if row else None)

    def events(self, turn_id: UUID) -> list[TurnEvent]:
        """Return what the stream has."""
        return self.stream.events.get(turn_id, [])


def in_order(turned: Turned) -> bool:
    """Tell whether a turn is numbered without a gap and ends once, at its end."""
    seqs = [event.seq for event in turned.events]
    ends = [event for event in turned.events if isinstance(event, TurnEnd)]
    return seqs == list(range(1, len(seqs) + 1)) and ends == [turned.events[-1]]
