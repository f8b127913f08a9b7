"""Every store of shares and scores keeps the same promises."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from services.chat.adapters.postgres.conversations import PostgresConversations
from services.chat.adapters.postgres.scores import PostgresScores
from services.chat.adapters.postgres.shares import PostgresShares
from services.chat.conversation_store import MOST_SHARES, ShareStore
from services.chat.faithfulness import EVALUATOR, SUPPORT, Score, ScoreStore, Wanted
from shared.errors import InvalidInput, NotFound
from shared.postgres.pool import open_pool
from tests.fakes.in_memory_conversations import InMemoryConversations
from tests.stored_turns import NOON, MemoryShelf, PostgresShelf, stored_turn

ANY = Wanted(None, EVALUATOR, judged=False)
JUDGED = Wanted(None, EVALUATOR, judged=True)


@dataclass
class Stores:
    """One technology's stores."""

    shelf: MemoryShelf | PostgresShelf
    shares: ShareStore
    scores: ScoreStore

    async def conversation(self, vault_id: str = "kitchen") -> UUID:
        return (await self.shelf.store.create(vault_id, "Brine")).conversation_id


@pytest.fixture(params=["memory", "postgres"])
def dsn(request: pytest.FixtureRequest) -> str | None:
    """Return the database; None for the stores in memory."""
    return None if request.param == "memory" else request.getfixturevalue("database")


@pytest.fixture
async def stores(dsn: str | None) -> AsyncGenerator[Stores]:
    """Yield empty stores."""
    if dsn is None:
        memory = InMemoryConversations()
        yield Stores(MemoryShelf(memory), memory, memory)
        return
    async with open_pool(dsn) as pool:
        shelf = PostgresShelf(pool, PostgresConversations(pool))
        yield Stores(shelf, PostgresShares(pool), PostgresScores(pool))


async def test_a_token_opens_its_conversation_in_its_vault_until_it_is_revoked(stores: Stores) -> None:
    conversation_id, one, other = await stores.conversation(), uuid4(), uuid4()
    await stores.shares.share("kitchen", conversation_id, one, "a" * 64)
    await stores.shares.share("kitchen", conversation_id, other, "b" * 64)
    assert await stores.shares.shared("kitchen", "a" * 64) == conversation_id
    for vault_id, token in (("cellar", "a"), ("kitchen", "c")):
        with pytest.raises(NotFound):
            await stores.shares.shared(vault_id, token * 64)
    assert await stores.shares.unshare("kitchen", conversation_id, one) == 1
    assert await stores.shares.unshare("kitchen", conversation_id, one) == 0
    with pytest.raises(NotFound):
        await stores.shares.shared("kitchen", "a" * 64)
    assert await stores.shares.shared("kitchen", "b" * 64) == conversation_id
    assert await stores.shares.unshare("kitchen", conversation_id, None) == 1
    with pytest.raises(NotFound):
        await stores.shares.shared("kitchen", "b" * 64)


async def test_shares_are_bound_to_their_vault_and_conversation(stores: Stores) -> None:
    mine, yours, share_id = await stores.conversation(), await stores.conversation(), uuid4()
    await stores.shares.share("kitchen", mine, share_id, "a" * 64)
    with pytest.raises(NotFound):
        await stores.shares.share("cellar", mine, uuid4(), "b" * 64)
    with pytest.raises(NotFound):
        await stores.shares.unshare("cellar", mine, None)
    with pytest.raises(NotFound):
        await stores.shares.unshare("kitchen", yours, share_id)
    with pytest.raises(NotFound):
        await stores.shares.unshare("kitchen", mine, uuid4())
    assert await stores.shares.shared("kitchen", "a" * 64) == mine


async def test_a_conversation_has_a_bounded_number_of_valid_shares(stores: Stores) -> None:
    conversation_id = await stores.conversation()
    ids = [uuid4() for _ in range(MOST_SHARES)]
    for share_id in ids:
        await stores.shares.share("kitchen", conversation_id, share_id, share_id.hex * 2)
    with pytest.raises(InvalidInput, match="revoke"):
        await stores.shares.share("kitchen", conversation_id, uuid4(), "a" * 64)
    await stores.shares.unshare("kitchen", conversation_id, ids[0])
    await stores.shares.share("kitchen", conversation_id, uuid4(), "a" * 64)


async def test_shares_go_with_their_conversation(stores: Stores) -> None:
    conversation_id = await stores.conversation()
    await stores.shares.share("kitchen", conversation_id, uuid4(), "a" * 64)
    await stores.shelf.store.delete("kitchen", conversation_id)
    with pytest.raises(NotFound):
        await stores.shares.shared("kitchen", "a" * 64)


async def test_whole_checked_answers_wait_for_a_score_the_oldest_first(stores: Stores) -> None:
    mine, other = await stores.conversation(), await stores.conversation()
    first = await stores.shelf.add(mine, stored_turn())
    second = await stores.shelf.add(other, stored_turn(created_at=NOON + timedelta(hours=1)))
    await stores.shelf.add(mine, stored_turn(state="cancelled", created_at=NOON + timedelta(hours=2)))
    await stores.shelf.add(mine, stored_turn(support={1: None}, created_at=NOON + timedelta(hours=3)))
    await stores.shelf.add(await stores.conversation("cellar"), stored_turn())
    found = await stores.scores.to_score("kitchen", ANY, 0, 10)
    assert [(each.conversation_id, each.answer) for each in found] == [(mine, first.answer), (other, second.answer)]
    assert await stores.scores.count("kitchen", ANY) == 2
    behind = await stores.scores.to_score("kitchen", ANY, found[0].place, 10)
    assert [each.answer for each in behind] == [second.answer]
    assert await stores.scores.count("kitchen", Wanted(mine, EVALUATOR, judged=False)) == 1


async def test_a_score_is_kept_once_and_shown_with_its_answer(stores: Stores) -> None:
    conversation_id = await stores.conversation()
    turn = await stores.shelf.add(conversation_id, stored_turn())
    await stores.scores.keep(turn.answer.message_id, Score(0.25, SUPPORT))
    await stores.scores.keep(turn.answer.message_id, Score(0.75, SUPPORT, {"sentences": 4}))
    _, shown = await stores.shelf.store.turn("kitchen", turn.turn_id)
    assert shown.answer.faithfulness == 0.75
    (placed,) = await stores.shelf.store.turns("kitchen", conversation_id, 0, 5)
    assert placed.turn.answer.faithfulness == 0.75
    assert await stores.scores.count("kitchen", ANY) == 0


async def test_a_later_evaluator_and_a_judge_score_again(stores: Stores) -> None:
    turn = await stores.shelf.add(await stores.conversation(), stored_turn())
    await stores.scores.keep(turn.answer.message_id, Score(0.5, SUPPORT))
    assert await stores.scores.count("kitchen", Wanted(None, EVALUATOR + 1, judged=False)) == 1
    assert await stores.scores.count("kitchen", JUDGED) == 1
    await stores.scores.keep(turn.answer.message_id, Score(0.5, SUPPORT, {"judge_problem": "unreadable"}))
    assert await stores.scores.count("kitchen", JUDGED) == 0
    await stores.scores.keep(turn.answer.message_id, Score(0.5, "openai:judge-1"))
    assert await stores.scores.count("kitchen", JUDGED) == 0
