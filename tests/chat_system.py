"""The chat service on real servers with a search that finds always the same, and an asker that reads events live."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from nats.aio.client import Client
from nats.aio.msg import Msg

from services.chat.adapters.postgres.rows import message_of
from services.chat.app import ChatParts, running_chat
from services.chat.provider import ChatProvider
from services.chat.settings import ChatSettings
from services.chat.upkeep import UpkeepTimes
from shared.bus import open_bus
from shared.contracts.chat import CancelRequest, ChatAccepted, ChatRequest, TurnDelta, TurnEnd, TurnEvent, turn_event
from shared.contracts.search import SearchReply, SearchRequest
from shared.contracts.stored_turns import StoredMessage
from shared.postgres.pool import Pool, open_pool
from shared.provision import provision_turns
from shared.service import Endpoint, serve
from shared.topology import Topology
from tests.fakes.found_passages import sauerkraut
from tests.fakes.scripted_provider import OneProvider

FAST = UpkeepTimes(beat_s=0.2, silent_s=1.0, settled_s=0.5)
"""Upkeep at a pace that a test can wait for."""


@dataclass
class Reading:
    """What an asker has read of one turn."""

    turn_id: UUID
    events: list[TurnEvent] = field(default_factory=list[TurnEvent])
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def until(self, kind: type[TurnEvent] | tuple[type[TurnEvent], ...], timeout_s: float = 20.0) -> TurnEvent:
        """Wait for the first event of a kind, or of several."""
        async with asyncio.timeout(timeout_s):
            while True:
                found = next((event for event in self.events if isinstance(event, kind)), None)
                if found is not None:
                    return found
                self.news.clear()
                await self.news.wait()

    async def end(self, timeout_s: float = 20.0) -> Any:
        """Wait for the last event."""
        return await self.until(TurnEnd, timeout_s)

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(event.text for event in self.events if isinstance(event, TurnDelta))


@dataclass
class Asker:
    """Asks over the bus."""

    client: Client
    topology: Topology
    vault_id: str

    async def read(self, turn_id: UUID) -> Reading:
        """Begin to read a turn from the stream, before it is asked."""
        reading = Reading(turn_id)

        async def on_event(message: Msg) -> None:
            reading.events.append(turn_event(message.data))
            reading.news.set()

        subject = self.topology.turn(self.vault_id, str(turn_id))
        await self.client.jetstream().subscribe(subject, stream=self.topology.turns, ordered_consumer=True, cb=on_event)
        return reading

    async def send(self, question: str, turn_id: UUID, **more: Any) -> Msg:
        """Ask and return the reply as it came."""
        request = ChatRequest(question=question, turn_id=turn_id, **more)
        return await self.client.request(self.topology.chat(self.vault_id), request.to_json(), timeout=10)

    async def ask(self, question: str, **more: Any) -> tuple[ChatAccepted, Reading]:
        """Ask a question that is accepted."""
        turn_id = uuid4()
        reading = await self.read(turn_id)
        return ChatAccepted.model_validate_json((await self.send(question, turn_id, **more)).data), reading

    async def cancel(self, turn_id: UUID, vault_id: str | None = None) -> None:
        """Cancel a turn."""
        subject = self.topology.cancel(vault_id or self.vault_id, str(turn_id))
        await self.client.publish(subject, CancelRequest().to_json())


@dataclass
class Kitchen:
    """A vault that knows of sauerkraut: rows in Postgres, and a search that finds always the same."""

    client: Client
    topology: Topology
    pool: Pool
    found: SearchReply
    searches: list[SearchRequest] = field(default_factory=list[SearchRequest])

    async def on_search(self, vault_id: str, request: SearchRequest) -> SearchReply:
        """Answer a search."""
        del vault_id
        self.searches.append(request)
        return self.found.model_copy(update={"query": request.query})

    async def stored(self, message_id: UUID) -> StoredMessage:
        """Return a stored message."""
        (row,) = await self.pool.fetch("SELECT * FROM messages WHERE message_id = $1", message_id)
        return message_of(row)


@asynccontextmanager
async def open_kitchen(nats_url: str, topology: Topology, dsn: str) -> AsyncGenerator[Kitchen]:
    """Provision what chat needs, and answer searches."""
    async with open_bus(nats_url, name="kitchen", connect_timeout_s=10) as client, open_pool(dsn) as pool:
        await provision_turns(client, topology)
        await pool.execute("INSERT INTO vaults (vault_id, settings) VALUES ('kitchen', '{}')")
        kitchen = Kitchen(client, topology, pool, sauerkraut())
        search = Endpoint("search", topology.search("*"), SearchRequest, kitchen.on_search, "retrieval")
        async with serve(client, name="finder", version="1.0.0", description="Finds", endpoints=[search]):
            yield kitchen


@asynccontextmanager
async def chatting(kitchen: Kitchen, provider: ChatProvider, **settings: Any) -> AsyncGenerator[Asker]:
    """Run the chat service with one provider."""
    parts = ChatParts(OneProvider(provider), times=FAST)
    async with running_chat(kitchen.client, kitchen.topology, kitchen.pool, parts, ChatSettings(**settings)):
        yield Asker(kitchen.client, kitchen.topology, "kitchen")
