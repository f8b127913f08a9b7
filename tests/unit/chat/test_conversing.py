"""What conversing does beyond its stores: it ends turns that lost their conversation, and bounds replies."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from uuid import UUID

import pytest

from services.chat.conversing import Conversing, Effects
from shared.contracts import conversations as c
from shared.errors import InvalidInput, NotFound, TooLarge
from tests.fakes.in_memory_conversations import InMemoryConversations
from tests.stored_turns import stored_turn


@dataclass
class Desk:
    """Conversations in memory, with the effects noted."""

    max_bytes: int = 100_000
    store: InMemoryConversations = field(default_factory=InMemoryConversations)
    cancelled: list[tuple[str, UUID]] = field(default_factory=list[tuple[str, UUID]])

    async def cancel(self, vault_id: str, turn_id: UUID) -> None:
        self.cancelled.append((vault_id, turn_id))

    @property
    def conversing(self) -> Conversing:
        effects = Effects(self.cancel, lambda: f"token-{len(self.store.shares)}-{'x' * 32}")
        return Conversing(self.store, self.store, effects, self.max_bytes)

    async def conversation(self) -> UUID:
        return (await self.store.create("kitchen", "Brine")).conversation_id


async def test_deleting_ends_the_turn_that_runs_and_no_other() -> None:
    desk = Desk()
    mine, running = await desk.conversation(), stored_turn(state="streaming")
    desk.store.add_turn(mine, stored_turn())
    desk.store.add_turn(mine, running)
    await desk.conversing.delete("kitchen", c.DeleteRequest(conversation_id=mine))
    assert desk.cancelled == [("kitchen", running.turn_id)]
    with pytest.raises(NotFound):
        await desk.conversing.delete("kitchen", c.DeleteRequest(conversation_id=mine))
    assert len(desk.cancelled) == 1


async def test_a_token_is_told_once_and_not_kept() -> None:
    desk = Desk()
    shared = await desk.conversing.share("kitchen", c.ShareRequest(conversation_id=await desk.conversation()))
    assert all(shared.token not in repr(share) for share in desk.store.shares.values())


@pytest.mark.parametrize("form", ["markdown", "json"])
async def test_parts_of_a_document_are_bounded_and_joined_the_whole(form: str) -> None:
    desk = Desk()
    mine = await desk.conversation()
    for number in range(12):
        desk.store.add_turn(mine, stored_turn(f"Question {number}?", "word\n" * 120))
    request = c.ExportRequest.model_validate({"conversation_id": mine, "format": form})
    whole = await desk.conversing.export("kitchen", request)
    assert whole.next_cursor is None
    desk.max_bytes = 6_000
    parts = [await desk.conversing.export("kitchen", request)]
    while (cursor := parts[-1].next_cursor) is not None:
        parts.append(await desk.conversing.export("kitchen", request.model_copy(update={"cursor": cursor})))
    assert len(parts) > 1
    assert all(len(part.to_json()) < 6_800 for part in parts)
    assert "".join(part.text for part in parts) == whole.text


async def test_a_turn_that_fits_into_no_message_is_told() -> None:
    desk = Desk(max_bytes=500)
    mine = await desk.conversation()
    desk.store.add_turn(mine, stored_turn(answer="x" * 1000))
    with pytest.raises(TooLarge, match="max_payload"):
        await desk.conversing.get("kitchen", c.GetRequest(conversation_id=mine))


async def test_days_in_the_wrong_order_are_refused() -> None:
    request = c.CostsRequest(first_day=date(2026, 6, 2), last_day=date(2026, 6, 1))
    with pytest.raises(InvalidInput, match="-1 days"):
        await Desk().conversing.costs("kitchen", request)
